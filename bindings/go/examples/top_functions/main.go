// SPDX-License-Identifier: MIT

// top_functions RECORDING: the functions that the samples of each event were taken in, heaviest first.
package main

import (
	"fmt"
	"log"
	"os"

	"perfile"
)

func main() {
	reader, err := perfile.Open(os.Args[1])
	if err != nil {
		log.Fatal(err)
	}
	defer reader.Close()
	profile, err := reader.Profile("")
	if err != nil {
		log.Fatal(err)
	}
	defer profile.Close()
	for number, event := range profile.Events() {
		functions, err := profile.TopFunctions(uint32(number))
		if err != nil {
			log.Fatal(err)
		}
		for _, f := range functions {
			module := f.Module
			if module == "" {
				module = "[unknown]"
			}
			fmt.Printf("%s\t%d\t%d\t%s\t%s\n", event.Name, f.SelfSamples, f.SelfPeriod, module, f.Name)
		}
	}
}
