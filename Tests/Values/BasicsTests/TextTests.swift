import SQBasics
import Testing

@testable import TestSupport

/// How text from other programs is cleaned, and how bytes are classified.
@Suite struct TextTests {
  @Test(arguments: [
    ("plain text, é and 漢", "plain text, é and 漢"), ("a\u{1B}[2Jb\u{7}", "a[2Jb"),
    ("one\r\ntwo\u{2028}three", "one two three"), ("one\n\n two\tthree", "one two three"),
    ("\r\none \n", "one "), ("a\u{85}\u{202E}\n\u{7}b", "a b"), ("\u{202E}gnp.exe", "gnp.exe"),
    ("", ""),
  ])
  func `printable text has no control characters`(text: String, shown: String) {
    #expect(text.printable == shown)
  }

  @Test func `a long text is cut after it is cleaned`() {
    let text = String(repeating: "a\u{0}", count: 600)
    #expect(text.printable == String(repeating: "a", count: 499) + "…")
    let short = String(repeating: "a\u{0}", count: 500)
    #expect(short.printable == String(repeating: "a", count: 500))
    #expect("a\nb".printable(atMost: 2) == "a " && "a\nb".printable(atMost: 1) == "a")
    #expect(text.printable(atMost: 2) == "aa" && text.printable(atMost: .max).count == 600)
  }

  @Test(arguments: [
    (" \t a b\t", "a b"), ("", ""), (" \t", ""), ("\u{A0}a", "\u{A0}a"), ("a\r\n", "a\r\n"),
    (" \u{301}a", "\u{301}a"),
  ])
  func `trimming removes spaces and tabs at both ends, and nothing else`(
    text: String, trimmed: String
  ) {
    #expect(text.trimmed.utf8.elementsEqual(trimmed.utf8))
    #expect(text[...].utf8.trimmed.elementsEqual(trimmed.utf8))
  }

  /// The classes of marks take turns or not, and the run may begin at any byte.
  @Test(arguments: [marks(31), String(repeating: "\u{301}\u{316}", count: 16), marks(999)])
  func `more than 30 combining marks in a row are separated, and no mark is lost`(run: String) {
    let allowed = String(String.UnicodeScalarView(run.unicodeScalars.prefix(30)))
    for start in ["", "é", "漢", "😀"] {
      for count in 0...70 {
        let before = String(repeating: "x", count: count) + start
        #expect((before + allowed + "z").isStreamSafe)
        let text = before + run + "z"
        #expect(!text.isStreamSafe)
        let safe = text.streamSafe
        #expect(safe.isStreamSafe && safe.streamSafe.utf8.elementsEqual(safe.utf8))
        let kept = safe.unicodeScalars.filter { $0 != "\u{34F}" }
        #expect(kept.elementsEqual(text.unicodeScalars))
        #expect(safe.utf8.starts(with: (before + allowed + "\u{34F}").utf8))
      }
    }
  }

  @Test(arguments: ["", "plain", "crème brûlée", "Ω\u{301} ", "ที่นี่", "क्षि", "👩‍👩‍👧‍👦"])
  func `texts of any language are stream-safe and unchanged`(text: String) {
    let long = String(repeating: text, count: 100)
    #expect(long.isStreamSafe && long.streamSafe.utf8.elementsEqual(long.utf8))
    #expect(String(streamSafe: Array(long.utf8)).utf8.elementsEqual(long.utf8))
  }

  @Test func `a peer's bytes become stream-safe text, and invalid bytes are replaced`() {
    let bytes = [0x61, 0xFF] + Array(marks(31).utf8)
    let text = String(streamSafe: bytes)
    #expect(text.isStreamSafe && text.unicodeScalars.starts(with: "a\u{FFFD}".unicodeScalars))
    #expect(text.unicodeScalars.count == 2 + 31 + 1)
  }

  @Test(arguments: [
    ("it's", "it<>s"), ("it'\u{301}s", "it<>\u{301}s"), ("\u{D4E}'", "\u{D4E}<>"), ("''", "<><>"),
    ("", ""), ("\u{2019}", "\u{2019}"),
  ])
  func `a scalar is replaced, even if it is a part of a Character`(text: String, result: String) {
    #expect(text.replacingScalar("'", with: "<>").utf8.elementsEqual(result.utf8))
  }

  @Test func `bytes are classified as ASCII characters, and a byte above 0x7F has no class`() {
    for byte in UInt8.min...UInt8.max {
      let scalar = Character(Unicode.Scalar(byte))
      let isASCII = byte < 0x80
      #expect(byte.isDigit == (isASCII && scalar.isWholeNumber))
      #expect(byte.isLetter == (isASCII && scalar.isLetter))
      #expect(byte.isAlphanumeric == (byte.isDigit || byte.isLetter))
      #expect(byte.isBlank == (byte == 32 || byte == 9))
      #expect(byte.hexadecimalValue.map(Int.init) == (isASCII ? scalar.hexDigitValue : nil))
    }
  }
}
