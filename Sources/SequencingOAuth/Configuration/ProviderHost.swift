import SQBasics
import SQFoundation

/// The address of a provider that each customer has under a name of its own.
enum ProviderHost {
  /// Returns the address of a host, without a slash at its end; `nil` if the text has another part.
  ///
  /// The text may begin with `https://`, because people copy it from a browser.
  static func base(_ text: String) -> String? {
    let address = text.contains("://") ? text : "https://\(text)"
    guard let url = try? EndpointURL.check(address, name: "address"),
      ["", "/"].contains(url.path(percentEncoded: true)), url.query() == nil
    else { return nil }
    return EndpointURL.split(address).root.asciiLowercased()
  }

  /// Returns an address without the slashes at its end, and what is wrong with it.
  ///
  /// The provider may be below a path of its host.
  static func base(url: String) -> (text: String, fault: String?) {
    let base = String(url.reversed().drop { $0 == "/" }.reversed())
    guard !base.contains(/[?#]/) else {
      return (base, "\"\(url.printable)\" is the address of a page; give it without the ? or the #")
    }
    return (base, nil)
  }

  /// Returns the host for the provider's name, in messages and lists.
  static func name(_ text: String) -> String {
    let host = base(text).map { $0.drop { $0 != ":" }.dropFirst("://".count) }
    return String(host ?? text[...]).printable
  }

  /// Returns the reason why a provider with this host cannot be used.
  static func fault(_ text: String, of provider: String) -> String {
    "\"\(text.printable)\" is not the name of a host at which \(provider) can be; give it without a path"
  }
}
