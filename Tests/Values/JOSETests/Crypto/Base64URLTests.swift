import Foundation
import Testing

@testable import SQBasics
@testable import SQCrypto
@testable import SequencingOAuth

@Suite struct Base64URLTests {
  /// - SeeAlso: RFC 7636, appendix A; RFC 7515, appendix C
  @Test func `bytes become base64url without padding as in RFC 7636 appendix A`() {
    #expect(Base64URL.encode(Data([3, 236, 255, 224, 193])) == "A-z_4ME")
    #expect(Base64URL.decode("A-z_4ME") == Data([3, 236, 255, 224, 193]))
  }

  @Test(arguments: [
    (Data(), ""), (Data([0]), "AA"), (Data([0, 0]), "AAA"), (Data([0, 0, 0]), "AAAA"),
    (Data([255, 255, 255]), "____"), (Data([251, 239, 190]), "----"), (Data([255]), "_w"),
  ])
  func `base64url has neither padding nor plus nor slash`(bytes: Data, text: String) {
    #expect(Base64URL.encode(bytes) == text)
    #expect(Base64URL.decode(text) == bytes)
  }

  @Test func `decoding restores all bytes, also from a slice`() {
    let bytes = Data((0...255).map { UInt8($0) })
    for count in 0...255 {
      #expect(Base64URL.decode(Base64URL.encode(bytes.prefix(count))) == bytes.prefix(count))
      #expect(Base64URL.decode(Base64URL.encode(bytes.suffix(count))) == bytes.suffix(count))
    }
  }

  @Test(arguments: [
    "A", "AAAAA", "AA==", "AAA=", "=", "A=AA", "AA\n", " AA", "A A", "++++", "////", "AA.A",
    "é", "\u{0}\u{0}", "ＡＡ",
  ])
  func `a character outside the alphabet or a wrong length is rejected`(text: String) {
    #expect(Base64URL.decode(text) == nil)
  }

  /// - SeeAlso: RFC 4648, section 3.5
  @Test func `no two base64url texts decode to the same bytes`() {
    let characters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
    let pairs = characters.flatMap { first in characters.map { "\(first)\($0)" } }
    #expect(pairs.count { Base64URL.decode($0) != nil } == 256)
    #expect(pairs.count { Base64URL.decode("A" + $0) != nil } == 1024)
    for text in pairs where Base64URL.decode(text) != nil {
      #expect(Base64URL.decode(text).map(Base64URL.encode) == text)
    }
  }
}
