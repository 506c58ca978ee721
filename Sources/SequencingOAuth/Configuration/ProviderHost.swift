import SQBasics
import SQFoundation

/// The checks of an address that differs for each customer of a provider.
enum ProviderHost {
  /// Returns the address of a host, without a slash at its end; `nil` if the text has another part,
  /// such as a path.
  ///
  /// The text may begin with `https://`, because people copy it from a browser.
  static func base(_ text: String) -> String? {
    let address = text.contains("://") ? text : "https://\(text)"
    guard let url = try? EndpointURL.check(address, name: "address"),
      ["", "/"].contains(url.path(percentEncoded: true)), url.query() == nil
    else { return nil }
    return EndpointURL.split(address).root.asciiLowercased()
  }

  /// Returns an address without the slashes at its end, and the reason why it cannot be used, if
  /// there is one.
  ///
  /// The address may have a path.
  static func base(url: String) -> (text: String, fault: String?) {
    let base = String(url.reversed().drop { $0 == "/" }.reversed())
    guard !base.contains(/[?#]/) else {
      return (base, "\"\(url.printable)\" is the address of a page; give it without the ? or the #")
    }
    return (base, nil)
  }

  /// Returns the host in a text, as the provider's name shows it.
  static func name(_ text: String) -> String {
    let host = base(text).map { $0.drop { $0 != ":" }.dropFirst("://".count) }
    return String(host ?? text[...]).printable
  }

  /// Returns the reason why a provider with this host cannot be used.
  static func fault(_ text: String, of provider: String) -> String {
    "\"\(text.printable)\" is not a valid host name for \(provider); give the host without a path"
  }
}
