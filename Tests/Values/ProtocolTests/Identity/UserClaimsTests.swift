import Foundation
import Testing

@testable import SQBasics
@testable import SequencingOAuth

/// The properties for the standard claims of a user.
@Suite struct UserClaimsTests {
  private struct Claims: UserClaims {
    let subject = "24400320"
    var claims: [String: JSONValue]
  }

  @Test func `each standard claim has a property`() {
    let user = Claims(claims: [
      "name": "Alice Doe", "given_name": "Alice", "family_name": "Doe", "middle_name": "B.",
      "nickname": "al", "preferred_username": "alice", "profile": "https://example.com/alice",
      "picture": "https://example.com/alice.png", "website": "https://alice.example",
      "email": "alice@example.com", "email_verified": true, "gender": "female",
      "birthdate": "0000-03-22", "zoneinfo": "Europe/Paris", "locale": "fr-CA",
      "phone_number": "+1 (555) 555-5555;ext=555", "phone_number_verified": false,
      "updated_at": 1_700_000_000,
      "address": .object([
        "formatted": "1 Road\nTown", "street_address": "1 Road", "locality": "Town",
        "region": "Shire", "postal_code": "12345", "country": "Land",
      ]),
    ])
    #expect(user.name == "Alice Doe")
    #expect(user.givenName == "Alice" && user.familyName == "Doe" && user.middleName == "B.")
    #expect(user.nickname == "al" && user.preferredUsername == "alice")
    #expect(user.profileURL?.absoluteString == "https://example.com/alice")
    #expect(user.pictureURL?.absoluteString == "https://example.com/alice.png")
    #expect(user.websiteURL?.absoluteString == "https://alice.example")
    #expect(user.email == "alice@example.com" && user.isEmailVerified == true)
    #expect(user.gender == "female" && user.birthdate == "0000-03-22")
    #expect(user.timeZoneName == "Europe/Paris" && user.localeName == "fr-CA")
    #expect(user.phoneNumber == "+1 (555) 555-5555;ext=555")
    #expect(user.isPhoneNumberVerified == false)
    #expect(user.updateDate == Date(timeIntervalSince1970: 1_700_000_000))
    #expect(user.address?.formatted == "1 Road\nTown" && user.address?.streetAddress == "1 Road")
    #expect(user.address?.locality == "Town" && user.address?.region == "Shire")
    #expect(user.address?.postalCode == "12345" && user.address?.country == "Land")
  }

  @Test func `a claim that is missing, empty or of another type is nil`() {
    let user = Claims(claims: [
      "name": "", "given_name": 7, "email": .null, "email_verified": 1, "address": "1 Road",
      "updated_at": "yesterday", "picture": .array([]),
    ])
    #expect(user.name == nil && user.givenName == nil && user.email == nil)
    #expect(user.isEmailVerified == nil && user.address == nil && user.updateDate == nil)
    #expect(user.pictureURL == nil && user.familyName == nil)
  }

  @Test(arguments: [("true", true), ("false", false), ("yes", nil)])
  func `a boolean claim may be a text`(text: String, value: Bool?) {
    #expect(Claims(claims: ["email_verified": .string(text)]).isEmailVerified == value)
  }
}
