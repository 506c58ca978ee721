/// The options for connections to servers.
extension Option {
  static let authorities = Option(
    "--cacert", value: "FILE", formerly: "--ca",
    help: "A file of certificates in PEM: authorities to trust besides the system's, such as that "
      + "of your company. No option turns the check of certificates off.")
  static let proxy = Option(
    "--proxy", value: "none|URL",
    help: "The proxy of all requests: HOST:PORT, or a URL that begins with http, https, socks4, "
      + "socks4a, socks5 or socks5h. none: no proxy. By default the variables https_proxy and "
      + "all_proxy name it, and no_proxy the servers to reach without it, as for curl. If the "
      + "proxy demands a password, name its "
      + "user, as in http://USER@HOST:PORT, and put the password into the environment variable "
      + "\(Secret.Kind.proxyPassword.variable), which only this option uses. A server on this "
      + "machine is reached without a proxy."
  )
  static let clientCertificate = Option(
    "--client-cert", value: "FILE",
    help: "A file with a certificate of your own in PEM, and the intermediate ones after it, for "
      + "servers and gateways that ask for one in the TLS handshake.")
  static let certificateKey = Option(
    "--client-cert-key", value: "FILE",
    help: "The file with that certificate's private key, in PEM and not encrypted; by default the "
      + "key is in the file of --client-cert. It is not the key of --key, which signs messages.")
}
