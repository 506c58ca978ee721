import SequencingOAuth

extension RedirectURI {
  /// Whether the SDK receives the redirect.
  ///
  /// The system delivers any other redirect to the app that is registered for its scheme, but this
  /// program is registered for none.
  var isLoopback: Bool { Self.isLoopback(string) }

  /// Returns whether the SDK receives the redirects to an address.
  static func isLoopback(_ address: String) -> Bool { address.lowercased().hasPrefix("http:") }
}
