package main

import (
	"fmt"
	"html"
	"strings"
	"time"

	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"

	"github.com/go-curator/curator/tracing"
)

const (
	width, left, right = 1000, 240, 40
	rowHeight, barSize = 24, 16
	top, bottom        = 34, 30
)

// colours are the colours of the bars by service. They are visible on white and on black.
var colours = map[string]string{"billing": "#2f6fb3", "orders-api": "#b3632f"}

// picture draws spans along a common axis of time.
type picture struct {
	strings.Builder
	rows  []row
	start time.Time
	scale float64 // pixels for a nanosecond
	at    map[trace.SpanID]int
}

// draw returns the spans as an SVG.
func draw(spans []sdktrace.ReadOnlySpan) string {
	p := picture{rows: rows(spans), at: map[trace.SpanID]int{}}
	end := p.rows[0].EndTime()
	p.start = p.rows[0].StartTime()
	for i, r := range p.rows {
		p.at[r.SpanContext().SpanID()] = i
		if r.StartTime().Before(p.start) {
			p.start = r.StartTime()
		}
		if r.EndTime().After(end) {
			end = r.EndTime()
		}
	}
	p.scale = float64(width-left-right) / float64(end.Sub(p.start))
	height := top + len(p.rows)*rowHeight + bottom
	fmt.Fprintf(&p.Builder, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" font-family="sans-serif" font-size="12">`+"\n", width, height)
	fmt.Fprintf(&p.Builder, `<rect width="%d" height="%d" fill="#fff"/>`+"\n", width, height)
	p.WriteString(`<defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto"><path d="M0 0L8 4L0 8z" fill="#b00020"/></marker></defs>` + "\n")
	p.axis(end)
	for i, r := range p.rows {
		p.bar(i, r)
	}
	for i, r := range p.rows {
		for _, l := range r.Links() {
			p.link(i, r, l)
		}
	}
	p.WriteString("</svg>\n")
	return p.String()
}

func (p *picture) x(t time.Time) float64 { return left + float64(t.Sub(p.start))*p.scale }

// axis draws a line for every five milliseconds.
func (p *picture) axis(end time.Time) {
	for t := time.Duration(0); t <= end.Sub(p.start); t += 5 * time.Millisecond {
		x := p.x(p.start.Add(t))
		fmt.Fprintf(&p.Builder, `<line x1="%.1f" y1="%d" x2="%.1f" y2="%d" stroke="#ddd"/><text x="%.1f" y="%d" fill="#666" text-anchor="middle">%v</text>`+"\n",
			x, top-8, x, top+len(p.rows)*rowHeight, x, top-14, t)
	}
}

func (p *picture) bar(i int, r row) {
	y := top + i*rowHeight
	from, to := p.x(r.StartTime()), p.x(r.EndTime())
	name := r.Name()
	weight := "normal"
	if r.depth == 0 {
		name, weight = r.service+": "+name, "bold"
	}
	fmt.Fprintf(&p.Builder, `<text x="%d" y="%d" font-weight="%s" fill="#222">%s</text>`+"\n", 10+14*r.depth, y+barSize-3, weight, html.EscapeString(name))
	opacity := "1"
	if r.SpanKind() == trace.SpanKindClient {
		opacity = "0.55"
	}
	fmt.Fprintf(&p.Builder, `<rect x="%.1f" y="%d" width="%.1f" height="%d" rx="2" fill="%s" fill-opacity="%s"><title>%s, %v</title></rect>`+"\n",
		from, y, max(to-from, 2), barSize, colours[r.service], opacity, html.EscapeString(r.Name()), r.EndTime().Sub(r.StartTime()))
	for _, e := range r.Events() {
		fmt.Fprintf(&p.Builder, `<circle cx="%.1f" cy="%d" r="3" fill="#fff" stroke="#222"><title>%s</title></circle>`+"\n", p.x(e.Time), y+barSize/2, html.EscapeString(e.Name))
	}
}

// link draws an arrow from a span to the span that it links to.
func (p *picture) link(i int, r row, l sdktrace.Link) {
	to, ok := p.at[l.SpanContext.SpanID()]
	if !ok {
		return
	}
	y1, y2 := top+i*rowHeight+barSize/2, top+to*rowHeight+barSize/2
	x1, x2 := p.x(r.StartTime()), p.x(p.rows[to].EndTime())
	colour, dashes, label := "#888", "2 3", ""
	for _, kv := range l.Attributes {
		if kv.Key == tracing.AttrLink {
			colour, dashes, label = "#b00020", "none", "waits for"
			x1 = p.x(r.StartTime()) + 14
		}
	}
	marker := ""
	if label != "" {
		marker = ` marker-end="url(#tip)"`
	}
	fmt.Fprintf(&p.Builder, `<path d="M%.1f %d C%.1f %d %.1f %d %.1f %d" fill="none" stroke="%s" stroke-width="1.5" stroke-dasharray="%s"%s/>`+"\n",
		x1, y1, x1+70, (y1+y2)/2, x2+70, (y1+y2)/2, x2, y2, colour, dashes, marker)
	if label != "" {
		fmt.Fprintf(&p.Builder, `<text x="%.1f" y="%d" fill="%s">%s</text>`+"\n", max(x1, x2)+50, (y1+y2)/2, colour, label)
	}
}
