import ProgramSupport
import TestSupport
import Testing

/// A screen configuration in which a page is checked.
struct Look: Sendable {
  let scheme: ColorScheme
  let width: Int
  let height: Int

  static let all = ColorScheme.allCases.flatMap { scheme in
    [Look(scheme: scheme, width: 1200, height: 800), Look(scheme: scheme, width: 320, height: 640)]
  }

  /// Checks the browser's page in light and dark, wide and narrow.
  ///
  /// The method saves screenshots in the folder that the environment variable `SQ_SCREENSHOTS`
  /// names, if any.
  static func over(
    _ browser: Browser, named name: String, sourceLocation: SourceLocation = #_sourceLocation
  ) async throws {
    for look in all {
      try await browser.resize(width: look.width, height: look.height)
      try await browser.prefer(look.scheme)
      try await browser.screenshot("\(name)-\(look.scheme)-\(look.width)")
      let found = try await browser.run(inspection, as: Inspection.self)
      let place = Comment(rawValue: "\(name), \(look.scheme), \(look.width) pixels")
      #expect(found.isDark == (look.scheme == .dark), place, sourceLocation: sourceLocation)
      #expect(found.width <= look.width, place, sourceLocation: sourceLocation)
      #expect(found.requests == [], place, sourceLocation: sourceLocation)
      #expect(found.scripts == 0, place, sourceLocation: sourceLocation)
      #expect(found.headings == 1, place, sourceLocation: sourceLocation)
      #expect(found.nameless == [], place, sourceLocation: sourceLocation)
      #expect(found.faint == [], place, sourceLocation: sourceLocation)
      #expect(found.placeholders == [], place, sourceLocation: sourceLocation)
      #expect(found.unmarked == [], place, sourceLocation: sourceLocation)
    }
  }

  private struct Inspection: Decodable, Sendable {
    let isDark: Bool
    /// The width of the content, including what needs horizontal scrolling.
    let width: Int
    /// The requests that the page made for other resources.
    let requests: [String]
    let scripts: Int
    let headings: Int
    /// Fields without a label.
    let nameless: [String]
    /// Texts with less contrast than WCAG 2 requires (4.5 to 1).
    let faint: [String]
    /// Placeholders, which disappear as soon as the user types.
    let placeholders: [String]
    /// Buttons that differ from other text only by colour, which a user may override.
    let unmarked: [String]
  }

  private static let inspection = #"""
    const channels = (color) => color.match(/[\d.]+/g).map(Number);
    const luminance = (color) => {
      const [r, g, b] = channels(color).slice(0, 3).map((byte) => byte / 255)
        .map((c) => c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4);
      return 0.2126 * r + 0.7152 * g + 0.0722 * b;
    };
    const ground = (element) => {
      for (let place = element; place; place = place.parentElement) {
        const color = getComputedStyle(place).backgroundColor;
        if ((channels(color)[3] ?? 1) === 1) return color;
      }
      return "rgb(255, 255, 255)";
    };
    const contrast = (element) => {
      const pair = [getComputedStyle(element).color, ground(element)].map(luminance);
      return (Math.max(...pair) + 0.05) / (Math.min(...pair) + 0.05);
    };
    const texts = [...document.body.querySelectorAll("*")].filter((element) =>
      element.checkVisibility() &&
      [...element.childNodes].some((node) => node.nodeType === 3 && node.data.trim()));
    return {
      isDark: luminance(getComputedStyle(document.body).backgroundColor) < 0.2,
      width: document.documentElement.scrollWidth,
      requests: performance.getEntriesByType("resource").map((entry) => entry.name)
        .filter((name) => !name.startsWith("data:")),
      scripts: document.scripts.length,
      headings: document.querySelectorAll("h1").length,
      nameless: [...document.querySelectorAll("input:not([type=hidden])")]
        .filter((field) => field.labels.length === 0).map((field) => field.name),
      placeholders: [...document.querySelectorAll("[placeholder]")]
        .map((field) => field.placeholder),
      unmarked: [...document.querySelectorAll("button")].filter((button) => {
        const style = getComputedStyle(button);
        const hasGround = (channels(style.backgroundColor)[3] ?? 1) === 1;
        const hasBorder = parseFloat(style.borderTopWidth) > 0;
        return !hasGround && !hasBorder && !style.textDecorationLine.includes("underline");
      }).map((button) => button.textContent.trim()),
      faint: texts.filter((element) => contrast(element) < 4.5)
        .map((element) => element.textContent.trim()),
    };
    """#
}
