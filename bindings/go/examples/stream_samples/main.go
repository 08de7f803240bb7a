// SPDX-License-Identifier: MIT

// stream_samples RECORDING: how many samples were taken in each function, with memory for the functions only.
package main

import (
	"fmt"
	"log"
	"os"
	"sort"

	"perfile"
)

func main() {
	reader, err := perfile.Open(os.Args[1])
	if err != nil {
		log.Fatal(err)
	}
	defer reader.Close()
	stream, err := reader.Stream()
	if err != nil {
		log.Fatal(err)
	}
	defer stream.Close()
	var sample perfile.Sample
	var counts []uint64
	var samples, period uint64
	for {
		more, err := stream.Next(&sample)
		if err != nil {
			log.Fatal(err)
		}
		if !more {
			break
		}
		for len(counts) <= int(sample.Leaf) {
			counts = append(counts, 0)
		}
		counts[sample.Leaf]++
		samples++
		period += sample.Period
	}
	names := map[string]uint64{}
	for id, count := range counts {
		if count > 0 {
			names[stream.Label(uint32(id))] += count
		}
	}
	order := make([]string, 0, len(names))
	for name := range names {
		order = append(order, name)
	}
	sort.Slice(order, func(a, b int) bool {
		x, y := names[order[a]], names[order[b]]
		return x > y || (x == y && order[a] < order[b])
	})
	fmt.Printf("%d samples, period %d\n", samples, period)
	for _, name := range order {
		fmt.Printf("%8d %s\n", names[name], name)
	}
}
