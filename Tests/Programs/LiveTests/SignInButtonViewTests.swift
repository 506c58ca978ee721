import Foundation
import ProgramSupport
import SQBasics
import SequencingOAuth
import TestSupport
import Testing

/// The sign-in button in a real browser with this machine's font.
@Suite(.requires(.chromium), .timeLimit(.minutes(15)))
struct SignInButtonViewTests {
  static let titles = [
    SignInButton.defaultTitle, "i", "Sign in with WWW", "Illilli il illilli filling titles",
    "Mit Übergröße anmelden", "Войти через пример", "Σύνδεση με παράδειγμα", "使用示例登录",
    "تسجيل الدخول",
  ]

  @Test func `the title fits beside the button's key icon and is its accessible name`() async throws
  {
    try await Browser.open { browser in
      for (index, title) in Self.titles.enumerated() {
        for appearance in SignInButton.Appearance.allCases {
          let button = SignInButton(appearance, size: .large, title: title)
          let image = Data(button.svg.utf8).base64EncodedString()
          try await browser.go(to: "data:image/svg+xml;base64,\(image)")
          try await browser.screenshot("button-\(index)-\(appearance)")
          let reservation = try await browser.run(Self.reservation, as: Room.self)
          #expect(reservation.left >= 8 && reservation.right >= 8, "\(title): \(reservation)")
          #expect(abs(reservation.left - reservation.right) < 2, "\(title): \(reservation)")
          // A browser may call the role `img` or `image`.
          let role = try await browser.accessibleRole(of: "svg")
          #expect(["img", "image"].contains(role), "\(role)")
          #expect(try await browser.accessibleName(of: "svg") == title)
        }
      }
    }
  }

  /// The free space beside the title, in units of the drawing.
  private struct Room: Decodable, Sendable {
    let left: Double
    let right: Double
  }

  private static let reservation = """
    const title = document.querySelector("text").getBBox();
    const tile = document.querySelector("path").getBBox();
    const drawing = document.documentElement.viewBox.baseVal;
    return {
      left: title.x - (tile.x + tile.width), right: drawing.width - (title.x + title.width)
    };
    """
}
