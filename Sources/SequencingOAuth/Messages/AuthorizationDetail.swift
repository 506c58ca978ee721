public import SQBasics

/// One permission that an app asks for or has, as a JSON object whose type the server defines.
///
/// It says more than a scope can, for example which payment a token may make. Ask for it with
/// ``SignInOptions/authorizationDetails``; ``SQToken/authorizationDetails`` says what was granted.
///
/// - SeeAlso: RFC 9396, section 2
public struct AuthorizationDetail: Sendable, Hashable {
  /// The type, which determines the other members.
  public let type: String
  /// All members of the object, including the type.
  public let members: [String: JSONValue]

  /// Creates a permission from its type and its other members.
  public init(type: String, _ members: [String: JSONValue] = [:]) {
    self.type = type
    self.members = members.merging(["type": .string(type)]) { $1 }
  }

  /// Reads a permission from a server's response; `nil` if it is not an object with a type.
  init?(_ value: JSONValue) {
    guard let members = value.object, let type = members["type"]?.string else { return nil }
    self.init(type: type, members)
  }

  /// The places of the resources, usually URLs.
  public var locations: [String] { texts("locations") }
  /// The kinds of actions at the resources.
  public var actions: [String] { texts("actions") }
  /// The kinds of data at the resources.
  public var dataTypes: [String] { texts("datatypes") }
  /// The identifier of a single resource.
  public var identifier: String? { members["identifier"]?.string }

  private func texts(_ name: String) -> [String] {
    members[name]?.array?.compactMap(\.string) ?? []
  }

  /// Returns whether this permission includes another permission.
  ///
  /// It does if it has every member of the other permission, including the type, and each value
  /// includes the other's value. An array includes another array if it includes each element of the
  /// other array, and an object includes another object if it includes each member of the other
  /// object. Other values must be equal. A type may define a different meaning of its members,
  /// which only the app knows. Texts are compared by their code points.
  ///
  /// - SeeAlso: RFC 9396, sections 6.1 and 12
  public func includes(_ other: AuthorizationDetail) -> Bool {
    Self.includes(.object(members), .object(other.members))
  }

  private static func includes(_ whole: JSONValue, _ part: JSONValue) -> Bool {
    switch (whole, part) {
    case (.object(let whole), .object(let part)):
      part.allSatisfy { name, value in whole[name].map { includes($0, value) } ?? false }
    case (.array(let whole), .array(let part)):
      part.allSatisfy { value in whole.contains { includes($0, value) } }
    default:
      whole == part
    }
  }
}

extension AuthorizationDetail: Redacted {
  /// The type only, because the other members may be about the user.
  public var description: String { "authorization detail \(type.printable)" }
}

extension [AuthorizationDetail] {
  /// The permissions as the JSON of the parameter `authorization_details`.
  var json: JSONValue { .array(map { .object($0.members) }) }
}

extension SQToken {
  /// The permissions that the server granted; empty if the response named none.
  ///
  /// Compared with the request, the server may have left out or added members.
  ///
  /// - SeeAlso: RFC 9396, section 7
  public var authorizationDetails: [AuthorizationDetail] {
    additionalFields["authorization_details"]?.array?.compactMap(AuthorizationDetail.init) ?? []
  }

  /// Returns the requested permissions that no granted permission includes.
  ///
  /// - SeeAlso: ``AuthorizationDetail/includes(_:)``
  public func authorizationDetailsMissing(
    from requested: [AuthorizationDetail]
  ) -> [AuthorizationDetail] {
    let granted = authorizationDetails
    return requested.filter { wanted in !granted.contains { $0.includes(wanted) } }
  }
}
