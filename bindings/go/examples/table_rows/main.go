// SPDX-License-Identifier: MIT

// table_rows RECORDING [VIEW [COLUMNS]]: the rows of a view, with tabs between the columns.
package main

import (
	"bufio"
	"fmt"
	"log"
	"os"
	"strings"

	"perfile"
)

func main() {
	words := append(os.Args[1:], "", "")
	if words[1] == "" {
		words[1] = "samples"
	}
	reader, err := perfile.Open(words[0])
	if err != nil {
		log.Fatal(err)
	}
	defer reader.Close()
	table, err := reader.Table(words[1], words[2])
	if err != nil {
		log.Fatal(err)
	}
	defer table.Close()
	out := bufio.NewWriter(os.Stdout)
	defer out.Flush()
	fmt.Fprintln(out, strings.Join(table.Columns, "\t"))
	for {
		rows, err := table.Next()
		if err != nil {
			log.Fatal(err)
		}
		if rows == nil {
			break
		}
		for _, row := range rows {
			for i, value := range row {
				if i > 0 {
					fmt.Fprint(out, "\t")
				}
				fmt.Fprint(out, show(value))
			}
			fmt.Fprintln(out)
		}
	}
}

func show(value any) string {
	switch known := value.(type) {
	case nil:
		return ""
	case []any:
		parts := make([]string, len(known))
		for i, part := range known {
			parts[i] = show(part)
		}
		return strings.Join(parts, ";")
	default:
		return fmt.Sprint(known)
	}
}
