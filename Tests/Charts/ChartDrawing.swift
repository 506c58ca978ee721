/// The drawing of one chart in a picture, below a given height.
struct ChartDrawing {
  static let width = 760.0
  private static let plot = (left: 82.0, right: 524.0)
  /// The height above the lines, for the title and the name of the values' axis.
  private static let head = 66.0
  /// The height below the lines, for the ticks and the name of the sizes' axis.
  private static let foot = 56.0
  private static let labelDistance = 18.0

  private let chart: Chart
  private let theme: ChartTheme
  private let sizes: LogScale
  private let values: LogScale
  private let top: Double
  private let bottom: Double

  /// The height at which the next chart of the picture begins.
  let end: Double

  init(_ chart: Chart, _ theme: ChartTheme, start: Double, plotHeight: Double) {
    self.chart = chart
    self.theme = theme
    sizes = LogScale(chart.lines.flatMap { $0.points.map(\.size) })
    values = LogScale(chart.lines.flatMap { $0.points.map(\.value) }, atLeast: 10)
    top = start + Self.head
    bottom = top + plotHeight
    end = bottom + Self.foot
  }

  var elements: [String] { names + grid + chart.lines.flatMap(line) + labels }

  private func x(_ size: Double) -> Double {
    Self.plot.left + sizes.position(size) * (Self.plot.right - Self.plot.left)
  }

  private func y(_ value: Double) -> Double { bottom - values.position(value) * (bottom - top) }

  // MARK: Titles and grid

  private var names: [String] {
    [
      text(chart.title, x: 16, y: top - 38, size: 16, fill: theme.text, weight: "600"),
      text(chart.values.name, x: 16, y: top - 18, size: 13, fill: theme.quietText),
      text(
        chart.sizes.name, x: (Self.plot.left + Self.plot.right) / 2, y: bottom + 42, size: 13,
        fill: theme.quietText, anchor: "middle"),
    ]
  }

  private var grid: [String] {
    sizes.ticks.flatMap { tick in
      [
        rule((x(tick), top), (x(tick), bottom)),
        text(
          chart.sizes.unit.text(tick), x: x(tick), y: bottom + 20, size: 12.5,
          fill: theme.quietText, anchor: "middle"),
      ]
    }
      + values.ticks.flatMap { tick in
        [
          rule((Self.plot.left, y(tick)), (Self.plot.right, y(tick))),
          text(
            chart.values.unit.text(tick), x: Self.plot.left - 10, y: y(tick) + 4.5, size: 12.5,
            fill: theme.quietText, anchor: "end"),
        ]
      }
  }

  private func rule(
    _ from: (x: Double, y: Double), _ to: (x: Double, y: Double), stroke: String? = nil
  ) -> String {
    SVG.element(
      "path",
      [
        "d": "M" + Self.pair(from) + "L" + Self.pair(to), "stroke": stroke ?? theme.grid,
      ])
  }

  // MARK: Lines

  private func line(_ line: Chart.Line) -> [String] {
    let places = line.points.map { (x: x($0.size), y: y($0.value)) }
    let path = SVG.element(
      "polyline",
      [
        "points": places.map { Self.pair($0) }.joined(separator: " "), "fill": "none",
        "stroke": theme.code(line.color), "stroke-width": "2.2", "stroke-linejoin": "round",
        "stroke-dasharray": line.isDashed ? "6 5" : "none",
      ])
    // A dashed line has open circles, so that its points do not look like dashes.
    let circles = places.map { place in
      SVG.element(
        "circle",
        [
          "cx": SVG.number(place.x), "cy": SVG.number(place.y), "r": "3.6",
          "fill": line.isDashed ? theme.page : theme.code(line.color),
          "stroke": theme.code(line.color), "stroke-width": "2",
        ])
    }
    return [path] + circles
  }

  private var labels: [String] {
    let ends = chart.lines.compactMap { line in line.points.last.map { (line, $0) } }
    let heights = LabelColumn.heights(
      ends.map { y($0.1.value) }, distance: Self.labelDistance, in: top + 4...bottom - 4)
    return zip(ends, heights).flatMap { end, height in
      let (line, point) = end
      let place = (x: x(point.size) + 6, y: y(point.value))
      let color = theme.code(line.color)
      let label = Self.plot.right + 22
      return [
        rule(place, (label - 4, height), stroke: color),
        text(
          line.name, x: label, y: height + 4.5, size: 13, fill: color, weight: "600",
          value: chart.values.unit.text(point.value)),
      ]
    }
  }

  // MARK: Elements

  private func text(
    _ text: String, x: Double, y: Double, size: Double, fill: String, weight: String = "400",
    anchor: String = "start", value: String? = nil
  ) -> String {
    SVG.element(
      "text",
      [
        "x": SVG.number(x), "y": SVG.number(y), "font-size": SVG.number(size), "fill": fill,
        "font-weight": weight, "text-anchor": anchor,
      ], content: SVG.escaped(text) + (value.map(valueOfLabel) ?? ""))
  }

  private func valueOfLabel(_ value: String) -> String {
    " " + SVG.element("tspan", ["font-weight": "400"], content: SVG.escaped(value))
  }

  private static func pair(_ place: (x: Double, y: Double)) -> String {
    SVG.number(place.x) + "," + SVG.number(place.y)
  }
}
