// Command cmd plays the scenarios of the laboratory and prints or writes their tables.
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/raknet-go/raknet/internal/lab"
)

func main() {
	scenario := flag.String("scenario", "all", "scenarios or families to play, separated by commas")
	controller := flag.String("controller", "all", "controllers to play them with, separated by commas")
	seeds := flag.Int("seeds", 60, "runs of each, whose median counts")
	each := flag.Bool("each", false, "print every run as well")
	plot := flag.String("plot", "", "also draw each scenario with each controller into this directory")
	write := flag.String("write", "", "play everything and write tables, document and figures below this directory, the project's root")
	list := flag.Bool("list", false, "list scenarios and controllers")
	flag.Parse()
	if err := run(*scenario, *controller, *seeds, *each, *plot, *write, *list); err != nil {
		fmt.Fprintln(os.Stderr, "lab:", err)
		os.Exit(1)
	}
}

func run(scenario, controller string, seeds int, each bool, plot, write string, list bool) error {
	if write != "" {
		scenario, controller = "all", "all"
	}
	if list {
		for i := range lab.Scenarios {
			fmt.Printf("%-16s %s\n", lab.Scenarios[i].Name, lab.Scenarios[i].Title)
		}
		for _, c := range lab.Controllers {
			fmt.Println("controller", c.Name)
		}
		return nil
	}
	scenarios, err := chooseScenarios(scenario)
	if err != nil {
		return err
	}
	controllers, err := chooseControllers(controller)
	if err != nil {
		return err
	}
	r := lab.Play(scenarios, controllers, max(seeds, 1))
	if write != "" {
		return writeAll(r, write)
	}
	for _, f := range r.Families() {
		fmt.Print(r.Table(f, each))
	}
	if plot == "" {
		return nil
	}
	for _, s := range scenarios {
		for _, c := range controllers {
			f := lab.FullFigure(s)
			svg, err := f.Draw(c, controllers)
			if err == nil {
				err = writeFile(filepath.Join(plot, s.Name+"-"+c.Name+".svg"), svg)
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// writeAll writes what belongs into the project.
func writeAll(r *lab.Report, root string) error {
	for _, f := range r.Families() {
		if err := writeFile(filepath.Join(root, "testdata", "lab", f+".txt"), []byte(r.Table(f, false))); err != nil {
			return err
		}
	}
	c, ok := lab.FindController(lab.DefaultController)
	if !ok {
		return fmt.Errorf("no controller %q", lab.DefaultController)
	}
	for i := range lab.Figures {
		f := &lab.Figures[i]
		svg, err := f.Draw(c, lab.Controllers)
		if err == nil {
			err = writeFile(filepath.Join(root, "docs", "img", f.File()), svg)
		}
		if err != nil {
			return err
		}
	}
	return writeFile(filepath.Join(root, "docs", "LAB.md"), []byte(r.Markdown()))
}

func writeFile(name string, data []byte) error {
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return err
	}
	return os.WriteFile(name, data, 0o644)
}

func chooseScenarios(names string) (chosen []*lab.Scenario, err error) {
	wanted := strings.Split(names, ",")
	known := map[string]bool{"all": true}
	for i := range lab.Scenarios {
		s := &lab.Scenarios[i]
		known[s.Name], known[s.Family] = true, true
		if slices.Contains(wanted, "all") || slices.Contains(wanted, s.Name) || slices.Contains(wanted, s.Family) {
			chosen = append(chosen, s)
		}
	}
	for _, n := range wanted {
		if !known[n] {
			return nil, fmt.Errorf("no scenario or family %q: see -list", n)
		}
	}
	return chosen, nil
}

func chooseControllers(names string) (chosen []lab.Controller, err error) {
	if names == "all" {
		return lab.Controllers, nil
	}
	for _, n := range strings.Split(names, ",") {
		c, ok := lab.FindController(n)
		if !ok {
			return nil, fmt.Errorf("no controller %q: see -list", n)
		}
		chosen = append(chosen, c)
	}
	return chosen, nil
}
