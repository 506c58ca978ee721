import SequencingOAuth

extension Failure {
  /// Phrases of errors about the network and TLS, each with a hint that names an option.
  static let network: [(advice: String, hint: String)] = [
    (
      "demands a user name and a password",
      "name the proxy's user with \(Option.proxy.name) http://USER@HOST:PORT, and put the password "
        + "into the environment variable \(Secret.Kind.proxyPassword.variable)"
    ),
    (
      "the proxy refused the user name or the password",
      "name the proxy's user with \(Option.proxy.name) http://USER@HOST:PORT, and put the right "
        + "password into the environment variable \(Secret.Kind.proxyPassword.variable)"
    ),
    (
      "with socks5h or socks4a, the proxy looks it up",
      "name the proxy with another scheme: \(Option.proxy.name) socks5h://HOST:PORT"
    ),
    (
      "such a proxy cannot pass on calls",
      "name a proxy that is reached over http: \(Option.proxy.name) http://HOST:PORT"
    ),
    (
      "no trusted TLS connection to the proxy",
      "name a file with the authority of the proxy's certificate: \(Option.authorities.name) FILE; "
        + "\(Option.proxy.name) names another proxy"
    ),
    (
      "the proxy setting",
      "\(Option.proxy.name) names another proxy, and \(Option.proxy.name) none goes without one"
    ),
    (
      "additionalAuthorities; if the server demands a certificate of the client",
      "name a file with the authority of the server's certificate: \(Option.authorities.name) FILE; "
        + "or one with a certificate of yours: \(Option.clientCertificate.name) FILE"
    ),
    (
      "additionalAuthorities",
      "name a file with the authority of the server's certificate, or of the proxy that decrypts "
        + "connections to the server: \(Option.authorities.name) FILE"
    ),
    (
      "the authorities that the client trusts",
      "name a file with the authority of the server's certificate: \(Option.authorities.name) FILE"
    ),
    (
      "clientCertificate cannot be used",
      "check the files of \(Option.clientCertificate.name) and \(Option.certificateKey.name)"
    ),
    (
      "clientCertificate",
      "name a file with the certificate that the server asks for: \(Option.clientCertificate.name) "
        + "FILE"
    ),
    ("was silent for the", "give the server more time with \(Option.timeout.name) SECONDS"),
  ]
}
