package main

import (
	"context"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/go-curator/curator/tools/curator/internal/view"
)

const servicesHelp = `Shows the services and their instances below PATH, the base path of service
discovery. The instances must be in the JSON of Curator's x-discovery. An
instance with a session is removed when that ends; others stay until somebody
deletes them.

With -o json the output is {"services": [SERVICE...]}, which is stable. A
SERVICE has name, path and instances. An instance has id, node, address, port,
sslPort, type, enabled, registered (UTC) and session, and if it is set uri or
payload. A service that cannot be read, and an instance that cannot be read or
decoded, has an error.`

func (p *program) servicesCommand() *cobra.Command {
	return p.lookCommand(request{
		use: "services PATH", short: "Show services and their instances", help: servicesHelp, least: 1,
		example: "  curator services --watch /services\n  curator services /services -o json | jq -r '.services[].instances[].address'",
	}, func(ctx context.Context, a *answer, path string) (result, error) {
		list, err := view.Services(ctx, a.client, path)
		if a.gone(err) {
			list, err = []view.Service{}, nil
		}
		document := struct {
			Services []view.Service `json:"services"`
		}{list}
		return result{document, func() [][]string { return serviceRows(list) }}, err
	})
}

func serviceRows(list []view.Service) [][]string {
	rows := [][]string{{"SERVICE", "INSTANCE", "ADDRESS", "PORT", "TLS PORT", "TYPE", "FOR", "SESSION"}}
	port := func(n int) string {
		if n == 0 {
			return "-"
		}
		return strconv.Itoa(n)
	}
	for _, s := range list {
		if s.Error != "" {
			rows = append(rows, []string{s.Name, "-", s.Error})
		}
		if s.Error == "" && len(s.Instances) == 0 {
			rows = append(rows, []string{s.Name, "(none)"})
		}
		for _, i := range s.Instances {
			if i.Error != "" {
				rows = append(rows, []string{s.Name, i.Node, i.Error})
				continue
			}
			kind := i.Type
			if !i.Enabled {
				kind += ", disabled"
			}
			rows = append(rows, []string{s.Name, i.ID, orDash(i.Address), port(i.Port), port(i.SSLPort), kind, age(i.Registered), i.Session})
		}
	}
	return rows
}
