import SQFoundation

/// Functions that read and narrow the resources that a request names in `resource`.
///
/// - SeeAlso: RFC 8707
extension SandboxState {
  /// Returns the resources of a request, each once and in order.
  ///
  /// - Throws: `invalid_target` for a malformed or unknown resource.
  func resources(in parameters: [SandboxParameter]) throws(OAuthFault) -> [String] {
    var found: [String] = []
    for parameter in parameters where parameter.name == "resource" {
      let resource = parameter.value
      guard Self.isIndicator(resource) else {
        throw .invalidTarget("resource is not an absolute URI without a fragment.")
      }
      guard isKnown(resource) else { throw .invalidTarget("resource names an unknown resource.") }
      if !found.contains(resource) { found.append(resource) }
    }
    return found
  }

  /// Returns the resources of an access token: those that the token request names or, if it names
  /// none, all resources of the grant.
  ///
  /// If the grant has resources, it must have every resource that the request names.
  ///
  /// - SeeAlso: RFC 8707, section 2.2
  func audiences(
    of request: SandboxRequest, within grant: TokenLedger.Grant
  ) throws(OAuthFault) -> [String] {
    let asked = try resources(in: request.form)
    guard !asked.isEmpty else { return grant.audiences }
    guard grant.audiences.isEmpty || asked.allSatisfy(grant.audiences.contains) else {
      throw .invalidTarget("The user did not allow access to all requested resources.")
    }
    return asked
  }

  /// Returns whether a text is an absolute URI without a fragment.
  ///
  /// - SeeAlso: RFC 8707, section 2
  private static func isIndicator(_ text: String) -> Bool {
    guard !text.contains("#"), let url = URL(string: text) else { return false }
    return url.scheme?.isEmpty == false
  }

  private func isKnown(_ resource: String) -> Bool {
    guard let known = options.audiences else { return true }
    return known.contains(resource) || ownResources.contains { Self.names([resource], $0) }
  }
}

extension OAuthFault {
  /// Creates the error for a resource that is malformed, unknown or not granted.
  ///
  /// - SeeAlso: RFC 8707, section 2
  static func invalidTarget(_ description: String) -> Self {
    Self(code: "invalid_target", description: description)
  }
}

extension [SandboxParameter] {
  /// The parameters without `resource`, which a request may repeat.
  var withoutResources: [SandboxParameter] { filter { $0.name != "resource" } }
}
