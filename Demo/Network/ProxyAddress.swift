import SequencingOAuth

/// The value of `--proxy`, which never contains a password.
struct ProxyAddress: Sendable {
  let proxy: HTTPTransportConfiguration.Proxy

  /// Reads an address without a password, and adds the password from the environment if the address
  /// names a user.
  ///
  /// No message repeats the address, because the user may have typed a password.
  init(_ text: String, password: Secret?) throws(Failure) {
    guard text != "none" else {
      proxy = .none
      return
    }
    // The text is read by scalars, because a ":" and a combining mark form one Character.
    var address = text.unicodeScalars
    let start = address.firstRange(of: "://".unicodeScalars)?.upperBound ?? address.startIndex
    let at = address[start...].lastIndex(of: "@")
    if let at, address[start..<at].contains(":") { throw Self.hasPassword }
    if let at, let password {
      address.insert(contentsOf: (":" + password.percentEncoded).unicodeScalars, at: at)
    }
    do throws(SQOAuthError) {
      proxy = try HTTPTransportConfiguration.Proxy(address: String(address))
    } catch {
      throw .usage("\(Option.proxy.name): \(error.message)")
    }
  }

  private static let hasPassword = Failure.usage(
    "a password is never an argument, because every user of the machine can see arguments; name the "
      + "proxy as http://USER@HOST:PORT and put the password into the environment variable "
      + "\(Secret.Kind.proxyPassword.variable), or put the whole URL into https_proxy")
}
