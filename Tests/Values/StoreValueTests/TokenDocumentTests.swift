import Foundation
import TestSupport
import Testing

@testable import SequencingOAuth

/// Tests the text of an unencrypted token file.
@Suite struct TokenDocumentTests {
  private let format = TokenDocument.Format()

  private func document(_ ids: [String]) throws -> TokenDocument {
    var document = TokenDocument()
    for id in ids { try document.save(record(id)) }
    return document
  }

  @Test(arguments: [
    [], ["a"], ["b", "a"], ["é", "e\u{301}"], ["a\u{0}2", "a"], ["\"quoted\"", "back\\slash", ""],
    ["a\nb", "\u{7F}", "🔑"],
  ])
  func `each account is written on one line and read back unchanged`(ids: [String]) throws {
    let text = format.encode(try document(ids))
    let lines = String(decoding: text, as: UTF8.self).split(separator: "\n")
    #expect(lines.count == ids.count + 6)
    _ = try JSONSerialization.jsonObject(with: text)
    let read = try format.decode(text)
    #expect(read.ids == ids.inByteOrder())
    for id in ids { #expect(try read.record(id) == record(id)) }
    #expect(format.encode(read) == text)
  }

  @Test func `a change of one account changes only its line and the digest`() throws {
    let before = format.encode(try document(["a", "b", "c"]))
    var document = try format.decode(before)
    try document.save(record("b", token: SQToken(accessToken: "new")))
    let after = format.encode(document)
    let changed = zip(lines(before), lines(after)).filter { $0 != $1 }
    #expect(changed.count == 2, "the account and the digest")
    document.erase("b")
    #expect(lines(format.encode(document)).count == lines(before).count - 1)
  }

  @Test
  func `a file with spaces around its records is read, and a second rewriting changes nothing`()
    throws
  {
    let text =
      #"{"version":1,"accounts":{ "a" : {"client_id":"c","id":"a","token":"#
      + #"{"access_token":"x","additional_fields":{},"token_type":"Bearer"}}  \#n  } }"#
    let read = try format.decode(Data(text.utf8))
    let again = try format.decode(format.encode(read))
    for document in [read, again] {
      #expect(document.ids == ["a"])
      #expect(try document.record("a")?.token.accessToken == "x")
    }
    #expect(format.encode(again) == format.encode(read))
  }

  /// Faults of a file without a digest, as a person might make them.
  @Test(arguments: [
    #"{"version":1,"accounts":{"a":{}}}"#, #"{"version":1,"accounts":[]}"#, #"{"version":1}"#,
    #"{"version":1,"accounts":{},"more":1}"#, #"{"accounts":{}}"#,
    #"{"version":"1","accounts":{}}"#, #"{"version":0,"accounts":{}}"#, "{", "[]", "",
    #"{"version":1,"accounts":{}}x"#,
  ])
  func `a malformed file is reported as damage`(text: String) {
    failure(.storeDamaged) { try format.decode(Data(text.utf8)) }
  }

  @Test func `a record under the name of a different account is reported as damage`() throws {
    let text = String(decoding: format.encode(try document(["a"])), as: UTF8.self)
    let moved = text.replacing(#""a" : {"#, with: #""b" : {"#)
      .replacing(#/,\n  "sha256" : "[0-9a-f]+"/#, with: "")
    failure(.storeDamaged) { try format.decode(Data(moved.utf8)) }
  }

  private func lines(_ text: Data) -> [Substring] {
    String(decoding: text, as: UTF8.self).split(separator: "\n")
  }
}
