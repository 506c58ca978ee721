// A program for the benchmarks: it measures Go's go-jose.
//
// It reads lines "COUNT ISSUER CLIENT KEYS TOKEN" for the validation of an ID token, in which KEYS
// is a key set in base64, and lines "proof COUNT URL" for proofs of a key (RFC 9449). It answers
// each with a line: "ok NANOSECONDS FAILURES" or "error TEXT". It ends with its input.
package main

import (
	"bufio"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
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
	if len(words) == 3 && words[0] == "proof" {
		return proofs(words[1], words[2])
	}
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

// proofs signs proofs for GET requests, each with a new jti.
func proofs(times, url string) (time.Duration, error) {
	count, err := strconv.Atoi(times)
	if err != nil {
		return 0, err
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return 0, err
	}
	options := (&jose.SignerOptions{EmbedJWK: true}).WithType("dpop+jwt")
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.ES256, Key: key}, options)
	if err != nil {
		return 0, err
	}
	start := time.Now()
	for range make([]struct{}, count) {
		id := make([]byte, 16)
		if _, err := rand.Read(id); err != nil {
			return 0, err
		}
		hash := sha256.Sum256([]byte("access"))
		claims := map[string]interface{}{
			"htm": "GET", "htu": url, "iat": time.Now().Unix(),
			"jti": base64.RawURLEncoding.EncodeToString(id),
			"ath": base64.RawURLEncoding.EncodeToString(hash[:]),
		}
		if _, err := jwt.Signed(signer).Claims(claims).CompactSerialize(); err != nil {
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
