/// The identifiers of the sandbox's API as a protected resource.
///
/// - SeeAlso: RFC 9728
extension SandboxState {
  /// Returns the identifier of the resource that a request's path belongs to.
  func resource(at path: String) -> String {
    switch options.resources.extent {
    case .origin: address
    case .path: address + Self.apiPath(of: path)
    }
  }

  /// The identifiers of all resources that the sandbox itself has.
  var ownResources: [String] {
    switch options.resources.extent {
    case .origin: [address]
    case .path: Self.apiPaths.map { address + $0 }
    }
  }

  /// The paths of the API, each once and in order.
  private static let apiPaths = SandboxEndpoint.allCases.filter(\.isOfResource).map(\.path)
    .reduce(into: [String]()) { paths, path in if !paths.contains(path) { paths.append(path) } }

  /// Returns a request's path without the ID of a file, because all files of a drive are one
  /// resource.
  private static func apiPath(of path: String) -> String {
    apiPaths.first { path.hasPrefix($0 + "/") } ?? path
  }

  /// Returns the address of the metadata of the resource that a request's path belongs to; `nil` if
  /// the API publishes no metadata.
  ///
  /// - SeeAlso: RFC 9728, section 3.1
  func resourceMetadata(at path: String) -> String? {
    guard options.resources.describesItself else { return nil }
    let document = address + SandboxEndpoint.resourceMetadata.path
    return options.resources.extent == .origin ? document : document + Self.apiPath(of: path)
  }

  /// Returns whether any of the texts is the identifier `resource`.
  ///
  /// Clients write the identifier of an origin with or without a slash at its end.
  static func names(_ texts: some Sequence<String>, _ resource: String) -> Bool {
    texts.contains { [resource, resource + "/"].contains($0) }
  }
}

extension SandboxEndpoint {
  /// Whether the endpoint belongs to the API, unlike UserInfo, which belongs to the authorization
  /// server.
  var isOfResource: Bool { proofParty == .api && self != .userInfo }
}
