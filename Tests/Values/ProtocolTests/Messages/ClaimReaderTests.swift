import Foundation
import Testing

@testable import SQBasics
@testable import SequencingOAuth

/// How a claim is read, in every spelling that servers use.
@Suite struct ClaimReaderTests {
  private static func reader(_ claim: JSONValue?) -> ClaimReader {
    ClaimReader(
      claims: claim.map { ["a": $0] } ?? [:], subject: "ID token", missing: .idTokenMissing,
      malformed: .idTokenMalformed)
  }

  private func fault(
    _ claim: JSONValue?, _ read: (ClaimReader) throws(SQOAuthError) -> Void
  ) -> String? {
    do throws(SQOAuthError) {
      try read(Self.reader(claim))
      return nil
    } catch {
      return "\(error.code): \(error.message)"
    }
  }

  /// Servers that write out their whole model send `null` for members without a value.
  @Test(arguments: [nil, .null] as [JSONValue?])
  func `a null claim counts as missing`(claim: JSONValue?) throws {
    let reader = Self.reader(claim)
    #expect(try reader.text("a") == nil)
    #expect(try reader.texts("a") == nil)
    #expect(try reader.audience("a") == nil)
    #expect(try reader.date("a") == nil)
    #expect(
      fault(claim) { reader throws(SQOAuthError) in
        _ = try reader.required("a", reader.text)
      } == #"\#(SQOAuthError.Code.idTokenMissing): the ID token has no "a""#)
  }

  @Test func `each type of claim is read`() throws {
    #expect(try Self.reader("b").text("a") == "b")
    #expect(try Self.reader(["b", ""]).texts("a") == ["b", ""])
    #expect(try Self.reader([]).texts("a") == [])
    #expect(try Self.reader("b").audience("a") == ["b"])
    #expect(try Self.reader(["b", "c"]).audience("a") == ["b", "c"])
    #expect(try Self.reader([]).possibleAudience("a") == [])
    #expect(try Self.reader(0).date("a") == Date(timeIntervalSince1970: 0))
    #expect(try Self.reader(1.5).date("a") == Date(timeIntervalSince1970: 1.5))
  }

  @Test(
    arguments: [
      ("", "is empty"), (7, "is a number and not a text"), (["b"], "is a list and not a text"),
      ([:], "is an object and not a text"), (false, "is a truth value and not a text"),
    ] as [(JSONValue, String)])
  func `the error names the wrong type of a claim, but not its value`(
    claim: JSONValue, words: String
  ) {
    let text = fault(claim) { reader throws(SQOAuthError) in _ = try reader.text("a") }
    #expect(text?.hasSuffix(#"the "a" of the ID token \#(words)"#) == true)
  }

  @Test(
    arguments: [
      (["b", .null], "has null in its list, but only texts are allowed"),
      (["b", 7], "has a number in its list, but only texts are allowed"),
      (7, "is a number and not a list of texts"), ([:], "is an object and not a list of texts"),
    ] as [(JSONValue, String)])
  func `a claim that is not a list of texts is rejected, and the error says why`(
    claim: JSONValue, end: String
  ) {
    let words = [
      fault(claim) { reader throws(SQOAuthError) in _ = try reader.texts("a") },
      fault(claim) { reader throws(SQOAuthError) in _ = try reader.audience("a") },
    ]
    #expect(words.allSatisfy { $0?.hasSuffix(end) == true }, "\(words)")
  }

  @Test(
    arguments: [([], "is empty"), ([""], "has an empty text"), ("", "is empty")]
      as [(JSONValue, String)])
  func `an audience needs at least one text, and no text may be empty`(
    claim: JSONValue, fault: String
  ) {
    let words = self.fault(claim) { reader throws(SQOAuthError) in _ = try reader.audience("a") }
    #expect(words?.hasSuffix(fault) == true)
  }

  @Test(arguments: ["1700000000", -1, 253_402_300_800, 1_700_000_000_000, [], true] as [JSONValue])
  func `a value that is not a plausible time in seconds is rejected`(claim: JSONValue) {
    let words = fault(claim) { reader throws(SQOAuthError) in _ = try reader.date("a") }
    #expect(words?.hasSuffix("not a time in seconds") == true)
  }

  @Test(arguments: [.null, "", nil] as [JSONValue?])
  func `possibleText reads an empty or null claim as missing`(claim: JSONValue?) throws {
    #expect(try Self.reader(claim).possibleText("a") == nil)
    #expect(try Self.reader("b").possibleText("a") == "b")
  }

  @Test func `ifReadable ignores a claim that is empty or has a wrong type`() {
    for claim in [7, [], [:], "", true] as [JSONValue] {
      let reader = Self.reader(claim)
      #expect(reader.ifReadable("a", reader.text) == nil)
    }
    let reader = Self.reader("b")
    #expect(reader.ifReadable("a", reader.text) == "b")
  }
}
