import SQBasics
import SQFoundation
import SequencingOAuth

/// The address of a resource; a client finds the resource's metadata by this address.
struct ResourceAddress: Sendable, Hashable {
  /// The address without a fragment, with its scheme and its host in lower case and without a
  /// default port.
  ///
  /// - SeeAlso: RFC 3986, section 6.2; Model Context Protocol, Authorization, "Canonical Server
  ///   URI"
  let text: String
  /// The address as the app wrote it, without a fragment.
  private let written: String
  let origin: ResourceOrigin
  /// Whether the resource is on this computer, so that its authorization server may be too.
  let isLocal: Bool
  /// Whether some resolver could resolve the host to this computer, however the host is spelled.
  let mayBeLocal: Bool

  /// Checks an address; it must be https, or http on a loopback address.
  init(_ text: String) throws(SQOAuthError) {
    let url = String(text.prefix { $0 != "#" })
    written = url
    _ = try EndpointURL.check(url, name: "resource's address")
    origin = try ResourceOrigin(url)
    let target = try RequestTarget(text: url)
    (isLocal, mayBeLocal) = (target.isLoopback, target.mayBeLoopback)
    self.text = Self.root(of: origin) + EndpointURL.split(url).tail
  }

  private static func root(of origin: ResourceOrigin) -> String {
    let text = origin.description
    let usualPort = text.hasPrefix("https:") ? ":443" : ":80"
    return text.hasSuffix(usualPort) ? String(text.dropLast(usualPort.count)) : text
  }

  /// The normalized scheme, host and port.
  private var root: String { EndpointURL.split(text).root }

  private var path: String { String(EndpointURL.split(text).tail.prefix { $0 != "?" }) }

  /// The identifiers under which the resource may describe itself, the most specific first.
  ///
  /// A document at the well-known address with the resource's path must describe that path. A
  /// document at the root's well-known address must describe the whole server (RFC 9728, section
  /// 3.3).
  var identifiers: [String] { own + whole }

  /// The identifiers of the address itself: with and without its query, normalized and as written.
  private var own: [String] {
    [text, root + path, written, String(written.prefix { $0 != "?" })].withoutRepeats()
  }

  /// The identifiers of the whole server.
  private var whole: [String] {
    let roots = [root, EndpointURL.split(written).root]
    return (roots + roots.map { $0 + "/" }).withoutRepeats().filter { !own.contains($0) }
  }

  /// An address where the metadata may be, and the identifiers that the metadata may contain there.
  struct Candidate: Sendable, Hashable {
    let url: URL
    let identifiers: [String]

    /// The address without its query, for errors; a query may contain a secret.
    var place: String { url.absoluteString.withoutQuery.printable }
    /// The most specific identifier without its query, for errors.
    var identifier: String { identifiers[0].withoutQuery.printable }
  }

  /// Returns the addresses where the metadata may be if the server names none, in order.
  ///
  /// - SeeAlso: RFC 9728, section 3.1
  func candidates() throws(SQOAuthError) -> [Candidate] {
    let isRoot = path.isEmpty || path == "/"
    let last = Candidate(
      url: try ProtectedResourceMetadata.address(of: root),
      identifiers: isRoot ? identifiers : whole)
    guard !isRoot else { return [last] }
    // A query may belong to the identifier, or only to the app's request, so both forms are tried.
    let specific = try [text, root + path].withoutRepeats().map {
      identifier throws(SQOAuthError) in
      Candidate(url: try ProtectedResourceMetadata.address(of: identifier), identifiers: own)
    }
    return specific + [last]
  }

  /// Returns the address that a server's challenge names, and the identifiers that are allowed
  /// there.
  ///
  /// - Throws: `SQOAuthError.Code.resourceMetadataInvalid` if the address is at a different server
  ///   or cannot be used, for example because it is not https.
  func candidate(named address: String) throws(SQOAuthError) -> Candidate {
    guard let url = try? EndpointURL.check(address, name: "address"),
      let other = try? ResourceOrigin(address)
    else {
      throw SQOAuthError(
        .resourceMetadataInvalid,
        "the challenge of \(origin) names an unusable address of its metadata (resource_metadata): "
          + "\"\(address.printable)\"")
    }
    guard other == origin else {
      throw SQOAuthError(
        .resourceMetadataInvalid,
        "the challenge of \(origin) names metadata at another server, \(other) (resource_metadata), "
          + "which was not asked, because it could describe any resource; tell the operator of "
          + "\(origin)")
    }
    let known = try candidates().first { $0.url.absoluteString == url.absoluteString }
    return known ?? Candidate(url: url, identifiers: own)
  }
}

extension ResourceAddress: CustomStringConvertible {
  var description: String { text.withoutQuery.printable }
}
