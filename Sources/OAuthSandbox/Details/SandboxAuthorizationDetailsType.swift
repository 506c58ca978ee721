/// A type of authorization details that an app can request, with its description on the consent
/// page.
///
/// - SeeAlso: RFC 9396, section 2.1
public struct SandboxAuthorizationDetailsType: Sendable, Hashable {
  /// The type's name: the value of an object's member `type`.
  public var name: String
  /// The text on the consent page after the words "It will be able to".
  ///
  /// After this text, the page shows the members of the requested object, such as "amount: 12.50".
  public var summary: String
  /// The members that an object of this type must have.
  public var requiredMembers: Set<String>
  /// The other members that an object may have; `nil` for any.
  public var optionalMembers: Set<String>?

  /// Creates a type from its name and its description.
  public init(
    _ name: String, _ summary: String, requiredMembers: Set<String> = [],
    optionalMembers: Set<String>? = nil
  ) {
    self.name = name
    self.summary = summary
    self.requiredMembers = requiredMembers
    self.optionalMembers = optionalMembers
  }

  /// The type `payment_initiation`, like the example of RFC 9396, section 2.
  public static let payment = SandboxAuthorizationDetailsType(
    "payment_initiation", "Make a payment", requiredMembers: ["instructedAmount", "creditorName"])

  /// The type `genome_file`, with the members `actions`, `identifier` and `locations`.
  public static let genomeFile = SandboxAuthorizationDetailsType(
    "genome_file", "Use one genome file", requiredMembers: ["identifier"],
    optionalMembers: ["actions", "locations"])
}
