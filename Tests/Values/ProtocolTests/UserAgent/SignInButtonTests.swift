import Foundation
import FoundationXML
import SQBasics
import SequencingOAuth
import Testing

@testable import TestSupport

/// The picture of the button: the files that come with the library, and titles of any kind.
@Suite(.timeLimit(.minutes(1))) struct SignInButtonTests {
  static let sources = PackageSources.root.appending(path: "Sources/SequencingOAuth")
  static let images = sources.appending(path: "SignInButton/Images")

  static let buttons = SignInButton.Appearance.allCases.flatMap { appearance in
    SignInButton.Size.allCases.map { SignInButton(appearance, size: $0) }
  }

  @Test func `the picture files equal the library's drawings`() throws {
    var pictures = Self.buttons.map { button in
      let name = "sign-in-\(button.appearance)-\(button.size).svg"
      return (file: Self.images.appending(path: name), svg: button.svg)
    }
    let names = pictures.map(\.file.lastPathComponent)
    // The documentation has its own copies of two pictures.
    let article = Self.sources.appending(path: "SequencingOAuth.docc/Images")
    pictures += [
      (article.appending(path: "sign-in-button.svg"), SignInButton(.light, size: .large).svg),
      (article.appending(path: "sign-in-button~dark.svg"), SignInButton(.dark, size: .large).svg),
    ]
    for (file, svg) in pictures {
      if ProcessInfo.processInfo.environment["SQ_DRAW"] != nil {
        try Data(svg.utf8).write(to: file)
      }
      #expect(
        try String(contentsOf: file, encoding: .utf8) == svg,
        "run SQ_DRAW=1 Scripts/test --filter SignInButton to draw it again")
    }
    let files = try FileManager.default.contentsOfDirectory(atPath: Self.images.path)
    #expect(files.sorted() == names.sorted())
  }

  @Test(arguments: [
    "Sign in", "A & B", "</title><script>alert(1)</script>", "\" onload=\"alert(1)",
    "it's ]]> &amp;", "Mit Beispiel anmelden", "使用示例登录", "تسجيل الدخول", "👩🏽‍🔬 e\u{301}",
  ])
  func `a title of any kind is shown and described unchanged`(title: String) throws {
    let button = SignInButton(title: title)
    #expect(button.title == title)
    let root = try #require(try XMLDocument(xmlString: button.svg).rootElement())
    #expect(button.svg.contains(" role=\"img\">"))
    #expect(root.elements(forName: "title").map(\.stringValue) == [title])
    #expect(root.elements(forName: "text").map(\.stringValue) == [title])
    #expect(root.children?.count { $0.kind == .element } == 5, "\(button.svg)")
  }

  @Test(arguments: [
    ("  Sign\r\nin\u{2028}here ", "Sign in here"), ("a\0b\u{1B}c\u{FFFE}", "abc"),
    ("", SignInButton.defaultTitle), ("\n\u{7}", SignInButton.defaultTitle),
  ])
  func `a title is one line of valid XML text, and never empty`(title: String, shown: String) {
    #expect(SignInButton(title: title).title == shown)
  }

  @Test(arguments: ["i", "Sign in", SignInButton.defaultTitle, "Войти", "使用示例登录"])
  func `the width of a button depends on its title`(title: String) throws {
    let longer = title + " or sign up"
    for size in SignInButton.Size.allCases {
      let button = SignInButton(size: size, title: title)
      #expect(button.width < SignInButton(size: size, title: longer).width)
      #expect(button.svg.contains(" width=\"\(button.width)\" height=\"\(button.height)\" "))
      // All sizes have the same proportions.
      let medium = SignInButton(title: title)
      #expect(button.width * medium.height == medium.width * button.height)
    }
  }

  @Test(arguments: buttons)
  func `the button's letters and key stand out from their background`(button: SignInButton) throws {
    let colors = button.colors
    #expect(try contrast(colors.letters, colors.ground) >= 4.5)
    #expect(try contrast(colors.key, colors.tile) >= 4.5)
    // The frame, in the tile's colour, stands out from the page. The tile stands out from the
    // button's background.
    let page = button.appearance == .light ? "#ffffff" : "#000000"
    #expect(try contrast(colors.tile, page) >= 3)
    #expect(try contrast(colors.tile, colors.ground) >= 3)
    // The picture has only the four colours that are checked here.
    let used = Set(button.svg.matches(of: /"(#[^"]*)"/).map { String($0.1) })
    #expect(used == [colors.letters, colors.ground, colors.key, colors.tile])
  }

  /// Returns the contrast of two colours, from 1 to 21, as WCAG 2 defines it.
  private func contrast(_ one: String, _ other: String) throws -> Double {
    let luminances = try [luminance(one), luminance(other)].sorted()
    return (luminances[1] + 0.05) / (luminances[0] + 0.05)
  }

  private func luminance(_ color: String) throws -> Double {
    let number = try #require(Int(color.dropFirst(), radix: 16))
    let channels = [16, 8, 0].map { shift in
      let value = Double(number >> shift & 0xFF) / 255
      return value <= 0.04045 ? value / 12.92 : pow((value + 0.055) / 1.055, 2.4)
    }
    return 0.2126 * channels[0] + 0.7152 * channels[1] + 0.0722 * channels[2]
  }
}
