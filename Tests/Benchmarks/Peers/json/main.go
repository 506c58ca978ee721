// A program for the benchmarks: it measures Go's encoding/json.
//
// It reads lines "COUNT TEXT", in which TEXT is JSON in base64, and decodes the text COUNT times.
// It answers each line with a line: "ok NANOSECONDS FAILURES" or "error TEXT". It ends with its
// input.
package main

import (
	"bufio"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"
)

func main() {
	input := bufio.NewReader(os.Stdin)
	for {
		line, err := input.ReadString('\n')
		if err != nil {
			return
		}
		taken, err := run(strings.Fields(line))
		if err != nil {
			fmt.Printf("error %s\n", strings.ReplaceAll(err.Error(), "\n", " "))
		} else {
			fmt.Printf("ok %d 0\n", taken.Nanoseconds())
		}
	}
}

func run(words []string) (time.Duration, error) {
	if len(words) != 2 {
		return 0, fmt.Errorf("two words are needed")
	}
	count, err := strconv.Atoi(words[0])
	if err != nil {
		return 0, err
	}
	text, err := base64.StdEncoding.DecodeString(words[1])
	if err != nil {
		return 0, err
	}
	start := time.Now()
	for range make([]struct{}, count) {
		var value interface{}
		if err := json.Unmarshal(text, &value); err != nil {
			return 0, err
		}
	}
	return time.Since(start), nil
}
