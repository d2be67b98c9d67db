module example.com/curator/sample

go 1.26.0
