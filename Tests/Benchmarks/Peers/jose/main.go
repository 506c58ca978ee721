// A program for the benchmarks: it measures the validation of an ID token by Go's go-jose.
//
// It reads lines "COUNT ISSUER CLIENT KEYS TOKEN", in which KEYS is a key set in base64, and
// answers each with a line: "ok NANOSECONDS FAILURES" or "error TEXT". It ends with its input.
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

	jose "gopkg.in/square/go-jose.v2"
	"gopkg.in/square/go-jose.v2/jwt"
)

func main() {
	input := bufio.NewScanner(os.Stdin)
	for input.Scan() {
		taken, err := run(strings.Fields(input.Text()))
		if err != nil {
			fmt.Printf("error %s\n", strings.ReplaceAll(err.Error(), "\n", " "))
		} else {
			fmt.Printf("ok %d 0\n", taken.Nanoseconds())
		}
	}
}

func run(words []string) (time.Duration, error) {
	if len(words) != 5 {
		return 0, fmt.Errorf("five words are needed")
	}
	count, err := strconv.Atoi(words[0])
	if err != nil {
		return 0, err
	}
	text, err := base64.StdEncoding.DecodeString(words[3])
	if err != nil {
		return 0, err
	}
	var keys jose.JSONWebKeySet
	if err := json.Unmarshal(text, &keys); err != nil {
		return 0, err
	}
	start := time.Now()
	for range make([]struct{}, count) {
		if err := validate(words[4], keys, words[1], words[2]); err != nil {
			return 0, err
		}
	}
	return time.Since(start), nil
}

func validate(text string, keys jose.JSONWebKeySet, issuer, client string) error {
	token, err := jwt.ParseSigned(text)
	if err != nil {
		return err
	}
	found := keys.Key(token.Headers[0].KeyID)
	if len(found) != 1 {
		return fmt.Errorf("%d keys fit", len(found))
	}
	// Like the SDK, this reads all claims, not only those with rules.
	var claims jwt.Claims
	var all map[string]interface{}
	if err := token.Claims(found[0].Key, &claims, &all); err != nil {
		return err
	}
	return claims.Validate(jwt.Expected{
		Issuer: issuer, Audience: jwt.Audience{client}, Time: time.Now(),
	})
}
