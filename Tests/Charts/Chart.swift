/// What a chart shows: lines over two logarithmic axes.
package struct Chart: Sendable {
  /// What the values along an axis are.
  package struct Axis: Sendable {
    let name: String
    let unit: ChartUnit

    package init(_ name: String, _ unit: ChartUnit) {
      self.name = name
      self.unit = unit
    }
  }

  /// The values of one thing that was measured, from the left to the right.
  package struct Line: Sendable {
    package let name: String
    let color: ChartColor
    let isDashed: Bool
    package var points: [Point] = []

    package init(_ name: String, _ color: ChartColor, isDashed: Bool = false) {
      self.name = name
      self.color = color
      self.isDashed = isDashed
    }
  }

  /// A value at a size; both are above 0.
  package struct Point: Sendable {
    package let size: Double
    package let value: Double

    package init(size: Double, value: Double) {
      self.size = size
      self.value = value
    }
  }

  let title: String
  let sizes: Axis
  let values: Axis
  let lines: [Line]

  package init(_ title: String, sizes: Axis, values: Axis, lines: [Line]) {
    self.title = title
    self.sizes = sizes
    self.values = values
    self.lines = lines
  }
}
