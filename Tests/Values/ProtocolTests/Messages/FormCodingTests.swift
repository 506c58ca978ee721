import Foundation
import Testing

@testable import SQBasics
@testable import SequencingOAuth
@testable import TestSupport

@Suite struct FormCodingTests {
  @Test func `the example of RFC 6749 appendix B is encoded and decoded as published`() {
    #expect(FormCoding.encodeValue(" %&+\u{A3}\u{20AC}") == "+%25%26%2B%C2%A3%E2%82%AC")
    #expect(
      FormCoding.decode("a=+%25%26%2B%C2%A3%E2%82%AC")
        == [.init("a", " %&+\u{A3}\u{20AC}")])
  }

  /// Texts that an encoder could fail to escape.
  static let difficult = [
    "", " ", "+", "%", "&", "=", "?", "#", "/", ";", ",", ":", "@", "\"", "\\", "'", "*", "~",
    "a b", "a+b", "a%20b", "a%2Bb", "a&b=c", "p&=+%\u{FC} ", "\u{20AC}", "\u{1F600}",
    "e\u{301}", "\u{0}", "\r\n", "\n", "\t", "\u{7F}", "100%", "%zz", "a=b==", "\u{FEFF}x",
  ]

  @Test(arguments: difficult)
  func `a value survives encoding and decoding in a body and a query`(text: String) {
    let pairs: [FormCoding.Pair] = [.init(text, text), .init("end", "1")]
    for encoded in [FormCoding.encodeBody(pairs), FormCoding.encodeQuery(pairs)] {
      let decoded = FormCoding.decode(encoded)
      // The bytes are compared, because == takes two spellings of one letter for the same.
      #expect(decoded?.first.map { Array($0.value.utf8) } == Array(text.utf8))
      #expect(decoded?.last == .init("end", "1"))
    }
  }

  @Test(arguments: difficult)
  func `an encoded value has only characters that no parser splits at`(text: String) {
    let allowed = "%+*-._".utf8
    #expect(
      FormCoding.encodeValue(text).utf8.allSatisfy { isUnreserved($0) || allowed.contains($0) })
  }

  @Test(arguments: difficult)
  func `an encoded credential has no plus sign and can be decoded`(text: String) {
    let encoded = FormCoding.encodeCredential(text)
    #expect(FormCoding.decode("a=" + encoded).map { $0.map(\.value) } == [text])
    // There is no plus, which some decoders read as a space and some as a plus.
    #expect(encoded.utf8.allSatisfy { isUnreserved($0) || "%-._~*".utf8.contains($0) })
  }

  @Test func `a space is a plus in a body and percent 20 in a query`() {
    #expect(FormCoding.encodeBody([.init("a b", "c d")]) == "a+b=c+d")
    #expect(FormCoding.encodeQuery([.init("a b", "c d")]) == "a%20b=c%20d")
  }

  @Test func `decoding keeps the order of the pairs and repeated names`() {
    let pairs: [FormCoding.Pair] = [.init("b", "1"), .init("a", "2"), .init("b", "3")]
    #expect(FormCoding.encodeBody(pairs) == "b=1&a=2&b=3")
    #expect(FormCoding.decode("b=1&a=2&b=3") == pairs)
  }

  @Test(arguments: ["a=%", "a=%2", "a=%2g", "a=%g2", "a=%zz", "%=a", "a=b&c=%E", "a=% 1", "a=%+1"])
  func `a percent sign without two hexadecimal digits is rejected`(text: String) {
    #expect(FormCoding.decode(text) == nil)
  }

  @Test(arguments: ["a=%FF", "a=%C3", "a=%C3%28", "a=%ED%A0%80", "a=%C0%80", "%80=a"])
  func `bytes that are not UTF-8 are rejected`(text: String) {
    #expect(FormCoding.decode(text) == nil)
  }

  @Test(arguments: [
    ("", []), ("&", []), ("a", [("a", "")]), ("a=", [("a", "")]), ("=a", [("", "a")]),
    ("a=b=c==", [("a", "b=c==")]), ("a=1&&b=2", [("a", "1"), ("b", "2")]),
    ("a=b?c", [("a", "b?c")]), ("a=%2b%2B", [("a", "++")]), ("a=1;b=2", [("a", "1;b=2")]),
  ])
  func `unusual forms are decoded as other decoders decode them`(
    text: String, pairs: [(String, String)]
  ) {
    #expect(FormCoding.decode(text) == pairs.map { FormCoding.Pair($0.0, $0.1) })
  }

  @Test(arguments: [
    ("a=100%&b=1", "100%"), ("a=%u00f3&b=1", "%u00f3"), ("a=%2&b=1", "%2"), ("a=%&b=1", "%"),
    ("a=%E9&b=1", "\u{FFFD}"), ("a=x%E9y+z&b=1", "x\u{FFFD}y z"), ("a=%%41&b=1", "%A"),
    ("a=%zz%41&b=1", "%zzA"),
  ])
  func `a pair that cannot be decoded is repaired, and the other pairs stay unchanged`(
    text: String, value: String
  ) {
    #expect(FormCoding.mend(text) == [.init("a", value, isExact: false), .init("b", "1")])
    #expect(FormCoding.mend(text.replacing("a=", with: "")).map(\.isExact) == [false, true])
  }

  /// A browser or a server may encode each mark; a program on the same machine need not.
  @Test(arguments: [marks(31), FormCoding.encodeValue(marks(31))])
  func `more than 30 combining marks in a row are a wrong encoding, and are separated`(run: String)
  {
    for (text, name, value) in [("a=\(run)", "a", marks(31)), ("\(run)=a", marks(31), "a")] {
      #expect(FormCoding.decode(text) == nil)
      let expected = FormCoding.Pair(name.streamSafe, value.streamSafe, isExact: false)
      #expect(FormCoding.mend(text + "&b=1") == [expected, .init("b", "1")])
    }
    #expect(FormCoding.decode("a=\(marks(30))") == [.init("a", marks(30))])
  }
}
