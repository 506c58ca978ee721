import SQBasics
package import SQFoundation

// The JSON of a registration in the SDK's stores.
extension ClientRegistration {
  /// Returns the registration as JSON, with its secrets.
  ///
  /// - Throws: ``SQOAuthError/Code/storeFailed`` if a value cannot be written as JSON.
  package func json() throws(SQOAuthError) -> Data {
    guard let json = try? JSONEncoder().encode(self) else {
      throw SQOAuthError(.storeFailed, "the registration cannot be written as JSON")
    }
    return json
  }

  /// Reads a registration from its JSON; `nil` if this version of the SDK cannot read it.
  package init?(json: Data) {
    guard let registration = try? JSONDecoder().decode(Self.self, from: json) else { return nil }
    self = registration
  }
}
