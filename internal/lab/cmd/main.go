// Command cmd plays the scenarios of the laboratory and prints or writes their tables.
package main

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/raknet-go/raknet/internal/lab"
)

func main() {
	scenario := flag.String("scenario", "all", "scenarios or families to play, separated by commas")
	controller := flag.String("controller", "all", "controllers to play them with, separated by commas")
	seeds := flag.Int("seeds", 20, "runs of each, whose median counts")
	list := flag.Bool("list", false, "list scenarios and controllers")
	flag.Parse()
	if err := run(*scenario, *controller, *seeds, *list); err != nil {
		fmt.Fprintln(os.Stderr, "lab:", err)
		os.Exit(1)
	}
}

func run(scenario, controller string, seeds int, list bool) error {
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
	for _, f := range r.Families() {
		if err := r.WriteFamily(os.Stdout, f); err != nil {
			return err
		}
	}
	return nil
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
