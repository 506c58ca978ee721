import SQBasics

extension SignInButton {
  /// The height of every drawing in its own units; ``Size`` determines the displayed height.
  static let drawingHeight = 40

  /// The width in the drawing's units: the tile with the key, the title, and the title's margins.
  ///
  /// It is a multiple of ten, so that the button has a whole number of pixels in each size.
  var drawingWidth: Int {
    (Self.drawingHeight + 14 + titleWidth.units + 14 + 9) / 10 * 10
  }

  /// The drawing as SVG: a frame, a tile with the picture of a door key, and the title.
  ///
  /// It has no identifiers and no style sheet, because they would affect the surrounding page. The
  /// picture was drawn for this SDK; the key's three teeth become shorter in equal steps.
  var drawing: HTML {
    let colors = colors
    return """
      <svg xmlns="http://www.w3.org/2000/svg" width="\(width)" height="\(height)" \
      viewBox="0 0 \(drawingWidth) 40" role="img">
        <title>\(title)</title>
        <rect x=".5" y=".5" width="\(drawingWidth - 1)" height="39" rx="9.5" \
      fill="\(colors.ground)" stroke="\(colors.tile)"/>
        <path d="M40 0H10A10 10 0 0 0 0 10v20a10 10 0 0 0 10 10h30z" fill="\(colors.tile)"/>
        <g fill="none" stroke="\(colors.key)" stroke-width="2.5" stroke-linecap="round" \
      stroke-linejoin="round">
          <circle cx="12.25" cy="19" r="5"/>
          <path d="M17.25 19h15v7M28 19v5M23.5 19v3"/>
        </g>
        <text x="\((drawingWidth + 40) / 2)" y="26" text-anchor="middle"\(fitting) \
      fill="\(colors.letters)" font-family="system-ui, 'Helvetica Neue', Arial, sans-serif" \
      font-size="\(TitleWidth.fontSize)" font-weight="600">\(title)</text>
      </svg>
      """
  }

  /// The attributes that fit the title to its estimated width in any font; empty if the estimate is
  /// not close enough.
  private var fitting: HTML {
    guard titleWidth.isClose else { return .empty }
    return " textLength=\"\(titleWidth.units)\" lengthAdjust=\"spacingAndGlyphs\""
  }

  private var titleWidth: TitleWidth { TitleWidth(title) }
}

extension SignInButton {
  /// The colors of a button; they match the pages that the user sees after clicking it.
  package struct Colors: Sendable, Hashable {
    package let ground: String
    package let letters: String
    /// The color of the tile and of the frame.
    package let tile: String
    package let key: String
  }

  package var colors: Colors {
    switch appearance {
    case .light: Colors(ground: "#ffffff", letters: "#16212b", tile: "#0f6b5c", key: "#ffffff")
    case .dark: Colors(ground: "#161d23", letters: "#e9eff3", tile: "#63cdb6", key: "#04241d")
    }
  }
}
