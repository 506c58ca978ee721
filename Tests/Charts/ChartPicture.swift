/// A picture of one chart, or of several charts below each other.
package struct ChartPicture: Sendable {
  private let charts: [Chart]

  package init(_ charts: [Chart]) {
    self.charts = charts
  }

  /// Returns the picture as an SVG file.
  package func svg(_ theme: ChartTheme) -> String {
    var elements: [String] = []
    var height = 0.0
    for chart in charts {
      let drawing = ChartDrawing(
        chart, theme, start: height, plotHeight: charts.count == 1 ? 280 : 220)
      elements += drawing.elements
      height = drawing.end
    }
    let (width, total) = (SVG.number(ChartDrawing.width), SVG.number(height + 6))
    return """
      <svg xmlns="http://www.w3.org/2000/svg" width="\(width)" height="\(total)" \
      viewBox="0 0 \(width) \(total)" role="img" \
      font-family="system-ui, 'Helvetica Neue', Arial, sans-serif">
        <title>\(SVG.escaped(charts.map(\.title).joined(separator: "; ")))</title>
        <rect width="\(width)" height="\(total)" rx="8" fill="\(theme.page)"/>
        \(elements.joined(separator: "\n  "))
      </svg>

      """
  }
}
