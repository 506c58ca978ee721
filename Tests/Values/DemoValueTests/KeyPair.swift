import Testing

/// A pair of keys that OpenSSL made for these tests only, in PEM.
struct KeyPair: Sendable, CustomTestStringConvertible {
  let name: String
  let privatePEM: String
  let publicPEM: String

  var testDescription: String { name }

  static let p256 = KeyPair(
    name: "P-256",
    privatePEM: """
      -----BEGIN PRIVATE KEY-----
      MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQglpIzv/aATZz5XQ1T
      VhtZUUzX6UsY3CkpGhi+8RCDVoihRANCAARqiyfy5S2jkrZgJd4vT0rHNG5RzCx9
      zjBFZuSag41SuFtbxjE5GqZV/55ZG3Aq8IYnpHwYQ3HFBDP4TA36w+0p
      -----END PRIVATE KEY-----
      """,
    publicPEM: """
      -----BEGIN PUBLIC KEY-----
      MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEaosn8uUto5K2YCXeL09KxzRuUcws
      fc4wRWbkmoONUrhbW8YxORqmVf+eWRtwKvCGJ6R8GENxxQQz+EwN+sPtKQ==
      -----END PUBLIC KEY-----
      """)

  static let p384 = KeyPair(
    name: "P-384",
    privatePEM: """
      -----BEGIN PRIVATE KEY-----
      MIG2AgEAMBAGByqGSM49AgEGBSuBBAAiBIGeMIGbAgEBBDAUYTxC6OBev/JNVa2H
      UlbflSRZ9qwmhHjiZcCJRdrxWvP957is3RBsekRAZW0PylWhZANiAARO00M4hEyk
      ddL7YE7iG3kBea/8iPdEho5yY+Vl5lnPFFhJKc74G07yPfrrgAeMI5/AhdZPhkly
      /vlP0Rt9GxdQ2MJ4igsesqP79QjTioACKKaTWVRY1WcGfrWko04l9QE=
      -----END PRIVATE KEY-----
      """,
    publicPEM: """
      -----BEGIN PUBLIC KEY-----
      MHYwEAYHKoZIzj0CAQYFK4EEACIDYgAETtNDOIRMpHXS+2BO4ht5AXmv/Ij3RIaO
      cmPlZeZZzxRYSSnO+BtO8j3664AHjCOfwIXWT4ZJcv75T9EbfRsXUNjCeIoLHrKj
      +/UI04qAAiimk1lUWNVnBn61pKNOJfUB
      -----END PUBLIC KEY-----
      """)

  static let p521 = KeyPair(
    name: "P-521",
    privatePEM: """
      -----BEGIN PRIVATE KEY-----
      MIHuAgEAMBAGByqGSM49AgEGBSuBBAAjBIHWMIHTAgEBBEIBaZ/mmBENUxJlgffn
      z42h6MyWXzFr8LZijEAD3plX91b7U8gc79ak9KMhhOPyjN+PRxI/W45ihNtiqh9+
      i5eGlv+hgYkDgYYABAEMZkUVD+Uucux7+C1aWtTyNMNlW78iQc57BRzddDQjAT1k
      CpUOJ4yVX2bWZOmIPZdr3W/3vc/YfdAf5I+8PTzRSwHhyvercG6GxPg9hsRk1+Sf
      nUAlV64cKCIhLsjN+Q0NYmO1YyNJr5je77N+EfOEMCGK86vDtWSv6r9uaC9hrcPg
      5g==
      -----END PRIVATE KEY-----
      """,
    publicPEM: """
      -----BEGIN PUBLIC KEY-----
      MIGbMBAGByqGSM49AgEGBSuBBAAjA4GGAAQBDGZFFQ/lLnLse/gtWlrU8jTDZVu/
      IkHOewUc3XQ0IwE9ZAqVDieMlV9m1mTpiD2Xa91v973P2H3QH+SPvD080UsB4cr3
      q3BuhsT4PYbEZNfkn51AJVeuHCgiIS7IzfkNDWJjtWMjSa+Y3u+zfhHzhDAhivOr
      w7Vkr+q/bmgvYa3D4OY=
      -----END PUBLIC KEY-----
      """)

  static let ed25519 = KeyPair(
    name: "Ed25519",
    privatePEM: """
      -----BEGIN PRIVATE KEY-----
      MC4CAQAwBQYDK2VwBCIEIANmxJJbFSFmMZdCIugnynNa9Pg8sVFVCHDlFqKW9ZWq
      -----END PRIVATE KEY-----
      """,
    publicPEM: """
      -----BEGIN PUBLIC KEY-----
      MCowBQYDK2VwAyEAUw193FY0HJ6ys8ohY/NDYQtBFIUg3xeX39Kqbo4W5X8=
      -----END PUBLIC KEY-----
      """)

  static let rsa = KeyPair(
    name: "RSA",
    privatePEM: """
      -----BEGIN PRIVATE KEY-----
      MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQDArKl/xxB/CrG9
      lxcHPV3mK3DDknBdK7j5QMUBZu+fgW1OXPbmqN/rhnIw4kvk7loicK42534jm7At
      WyiiHVgKZT4bD3Xd8ZDr+KW6hx0jpKINZSNhYkqMsz9CZ88PK91XnANt4lrqK3Sk
      9FhjPrlyI6RtNVzSrhetjsQKLZB8wOqU6dUai+yd85U7PE8laXjVpDVnwBnoIN5k
      pqItnLHBw2/VjfE/eVm4tVG++s6Q4Bd9DNAWQqf+iYuG97VO5iJYULBy9utpu5+m
      mV0P7jD3nxYL2v8S2ImhKXZYsyjk1MBDzl4lIXjneLyIrBK73nVPyIK00FPHY5af
      LvLSHl73AgMBAAECggEADbFXnGqXvAeVCR2/N7b/QNfOfD+gd6afTytwtMBNgD7w
      9zQ5IbxXqYPVAq9aaGseAbuTTfiWqM4sL5T+ZsMCGj8GsmKfZEYCIBr8ICzw/7L4
      B06sPIQBO02TzdLVzsS1xr+iKMGA54puEDkDPQ5cnIV27oHv1lMkAKQYP4bscUke
      3k+fN24+y+5scjLr7QIXna6xsgrsc70wuCAY72X1ICZfUZZuYt4SeYO/TrdkiqN5
      ylEdRek3vjfRoDmQRwXYhyC0diKKyxdjLXgAUhGSyrCIu0GDYmMRSf3GuUCw6MiA
      yV2j4o/mIDjZ0sXsYi8bn2sWfOyoJjNAB9VQRFDvxQKBgQDt8aDEAwWXKIbj2MI1
      fvM4bXv7Sy9lkU92Un5HuVLdFU9qcgFs4q4uM8XbILdbIPf+h/88JlR6f2Fv8I5v
      h3F8s0XCc0gLLynjnRWh9Ev0E/RbtS2bR9xvhihJ8/W5zW4UW1BuJ0XATy3Kdo/D
      4KPOBsqc3CUy4vCvL/+04BzIEwKBgQDPS53ZU6+ntErlZwTTRXKP5he3eVb9yoMA
      R4nwyLiAbwehrzHTd+TK272XoHN569oc3wRr1rq4zy62T9pkAVO/ZbXIqKVJ1j99
      7zs+VVNQzLqB2JLqma8H/cJyR7ITIt243BLoF9BONAmlALphCz3aIFxqXddJ9Yxs
      Mq0wY6myDQKBgFfvYFaQN1SxqYgy5zMWA5TrAVLRambC2PcFbZ3cI3+JDJxuHZC8
      BVsVzx04bgrDmGL8p5r3H2lWAhB4emtFRu+q4TEHoaxgdb6kowYDXr6JUVlDD+O/
      HvwoPGN4QWu1O+VSCdtrsB9uI6IbRu5A6siNQfvOcADqVcCooHucB4b5AoGAS0u/
      KVqxeiwN7GfQI+Gc7FH6mWVUyNjPXsGdhD2UbupljkAxzAtHqrvIkRPx/f5Ceqwz
      UexsZIa1A/nbbOnifqo2Lo27hCdzZo4IKesaWUYUFOgS7W4nWrK893+9WiAXA3fE
      0lMcEdvrCOlLycYokFui1ewCMFYlzINXzzTURd0CgYEAyP7M15UFi2MF+OUO/KW2
      66kD1Ej7bH795aOJzY12YcLLdgnSyjO85RyRVPg39gJsa+QG+l9nQ6luk+NHbIZa
      +s9vOP5krw5x6jSfu3iGvrFB6C+j1C+/OWS37vA1ESN0bK0+Rkekw+rxcYKKbR4S
      LYXce5d0A6UJvVemdlKMGQo=
      -----END PRIVATE KEY-----
      """,
    publicPEM: """
      -----BEGIN PUBLIC KEY-----
      MIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8AMIIBCgKCAQEAwKypf8cQfwqxvZcXBz1d
      5itww5JwXSu4+UDFAWbvn4FtTlz25qjf64ZyMOJL5O5aInCuNud+I5uwLVsooh1Y
      CmU+Gw913fGQ6/iluocdI6SiDWUjYWJKjLM/QmfPDyvdV5wDbeJa6it0pPRYYz65
      ciOkbTVc0q4XrY7ECi2QfMDqlOnVGovsnfOVOzxPJWl41aQ1Z8AZ6CDeZKaiLZyx
      wcNv1Y3xP3lZuLVRvvrOkOAXfQzQFkKn/omLhve1TuYiWFCwcvbrabufppldD+4w
      958WC9r/EtiJoSl2WLMo5NTAQ85eJSF453i8iKwSu951T8iCtNBTx2OWny7y0h5e
      9wIDAQAB
      -----END PUBLIC KEY-----
      """)

  static let all = [p256, p384, p521, ed25519, rsa]
}
