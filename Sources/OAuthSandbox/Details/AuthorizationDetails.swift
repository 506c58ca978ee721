/// Functions that read and compare the parameter `authorization_details`.
///
/// - SeeAlso: RFC 9396
enum AuthorizationDetails {
  /// Reads and checks `authorization_details`.
  ///
  /// Returns an empty array if the parameter is missing or the sandbox knows no types of details.
  static func read(
    _ text: String?, for client: SandboxClient, _ sandbox: SandboxState
  ) throws(OAuthFault) -> [SandboxJSON] {
    let objects = try parse(text, sandbox) ?? []
    for object in objects { try check(object, client, sandbox) }
    return objects
  }

  /// Parses `authorization_details`, and returns `nil` if it is missing or the sandbox knows no
  /// types of details.
  private static func parse(
    _ text: String?, _ sandbox: SandboxState
  ) throws(OAuthFault) -> [SandboxJSON]? {
    guard let text, !sandbox.options.authorizationDetailsTypes.isEmpty else { return nil }
    guard case .array(let objects)? = SandboxJSON(parsing: text), !objects.isEmpty else {
      throw .invalidDetails("authorization_details must be a JSON array with at least one object.")
    }
    return objects
  }

  private static func check(
    _ object: SandboxJSON, _ client: SandboxClient, _ sandbox: SandboxState
  ) throws(OAuthFault) {
    guard case .object(let members) = object, case .string(let name)? = object["type"] else {
      throw .invalidDetails("An object has no type.")
    }
    let type = sandbox.options.authorizationDetailsTypes.first { $0.name == name }
    guard let type, client.authorizationDetailsTypes?.contains(name) ?? true else {
      throw .invalidDetails("There is no such type for this client.")
    }
    let names = Set(members.map(\.name)).subtracting(["type"])
    guard names.isSuperset(of: type.requiredMembers) else {
      let missing = type.requiredMembers.subtracting(names).sorted().joined(separator: ", ")
      throw .invalidDetails("An object lacks these members: \(missing).")
    }
    guard let optional = type.optionalMembers else { return }
    guard names.isSubset(of: optional.union(type.requiredMembers)) else {
      throw .invalidDetails("An object has a member that its type does not know.")
    }
  }

  /// Reads the parameter of a token request, which may ask for less than was granted.
  ///
  /// Returns all granted objects if the parameter is missing.
  static func read(
    _ text: String?, within granted: [SandboxJSON], _ sandbox: SandboxState
  ) throws(OAuthFault) -> [SandboxJSON] {
    guard let objects = try parse(text, sandbox) else { return granted }
    guard objects.allSatisfy({ object in granted.contains { covers($0, object) } }) else {
      throw .invalidDetails("The user did not allow all requested authorization details.")
    }
    return objects
  }

  /// Returns whether a granted object allows a requested one.
  ///
  /// Both must be equal, except that an array of the requested object may have fewer elements.
  private static func covers(_ granted: SandboxJSON, _ asked: SandboxJSON) -> Bool {
    guard case .object(let members) = asked, case .object(let all) = granted,
      members.map(\.name) == all.map(\.name)
    else { return false }
    return zip(members, all).allSatisfy { member, whole in
      guard case .array(let some) = member.value, case .array(let values) = whole.value else {
        return member.value == whole.value
      }
      return some.allSatisfy(values.contains)
    }
  }
}

extension SandboxState {
  /// Reads the authorization details of a request that is not based on an earlier grant.
  ///
  /// This is a device authorization request, or a token request such as one for client credentials.
  func details(
    of request: SandboxRequest, for client: SandboxClient
  ) throws(OAuthFault) -> [SandboxJSON] {
    try AuthorizationDetails.read(request.form("authorization_details"), for: client, self)
  }

  /// Reads the authorization details of a token request, which must not exceed the granted objects.
  func details(
    of request: SandboxRequest, within granted: [SandboxJSON]
  ) throws(OAuthFault) -> [SandboxJSON] {
    try AuthorizationDetails.read(request.form("authorization_details"), within: granted, self)
  }

  /// Returns the authorization details to grant: `objects`, unless a misbehaviour changes them.
  mutating func granted(_ objects: [SandboxJSON]) -> [SandboxJSON] {
    guard !objects.isEmpty,
      case .details(let change) = plan.take(.token, at: .details)
    else { return objects }
    return calling { change(objects) }
  }
}
