// SPDX-License-Identifier: MIT

// folded RECORDING: the stacks of the event with the most samples in a line each, for tools that draw flame graphs.
package main

import (
	"fmt"
	"log"
	"os"
	"sort"
	"strings"

	"perfile"
)

func main() {
	reader, err := perfile.Open(os.Args[1])
	if err != nil {
		log.Fatal(err)
	}
	defer reader.Close()
	profile, err := reader.Profile("comm")
	if err != nil {
		log.Fatal(err)
	}
	defer profile.Close()
	lines, err := fold(profile)
	if err != nil {
		log.Fatal(err)
	}
	for _, line := range lines {
		fmt.Println(line)
	}
}

func fold(profile *perfile.Profile) ([]string, error) {
	samples := map[uint32]uint64{}
	folded := map[uint32]map[string]uint64{}
	most := uint32(0)
	for i := 0; i < profile.RowCount(); i++ {
		row, err := profile.Row(i)
		if err != nil {
			return nil, err
		}
		stack, err := stackOf(profile, row)
		if err != nil {
			return nil, err
		}
		if folded[row.Event] == nil {
			folded[row.Event] = map[string]uint64{}
		}
		folded[row.Event][stack] += row.Period
		samples[row.Event] += row.Samples
		if samples[row.Event] > samples[most] {
			most = row.Event
		}
	}
	var lines []string
	for stack, period := range folded[most] {
		if period > 0 {
			lines = append(lines, fmt.Sprintf("%s %d", stack, period))
		}
	}
	sort.Strings(lines)
	return lines, nil
}

func stackOf(profile *perfile.Profile, row perfile.Row) (string, error) {
	frames, err := profile.Frames(row.Stack)
	if err != nil {
		return "", err
	}
	names := []string{strings.ReplaceAll(row.Comm, " ", "_")}
	for i := len(frames) - 1; i >= 0; i-- {
		number, err := profile.FunctionOf(frames[i])
		if err != nil {
			return "", err
		}
		function, err := profile.Function(number)
		if err != nil {
			return "", err
		}
		names = append(names, function.Label)
	}
	return strings.Join(names, ";"), nil
}
