/// A chart's content: lines over two logarithmic axes.
package struct Chart: Sendable {
  /// The name and the unit of an axis.
  package struct Axis: Sendable {
    let name: String
    let unit: ChartUnit

    package init(_ name: String, _ unit: ChartUnit) {
      self.name = name
      self.unit = unit
    }
  }

  /// A series of measured values, in ascending order of size.
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

  /// A measured value at a size; the value and the size are above 0.
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
