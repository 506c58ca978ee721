/// Labels below each other, each as near to the end of its line as the others let it be.
package enum LabelColumn {
  /// Labels that touch, and so move together.
  private struct Group {
    var labels: [Int]
    /// The sum of where the labels want the group's first label to be.
    var sum: Double
    var start: Double { sum / Double(labels.count) }
  }

  /// Returns the heights of the labels, in the order of the heights that they want to have.
  ///
  /// Two labels have at least this distance, and all are within the range if it has space for them.
  package static func heights(
    _ wanted: [Double], distance: Double, in range: ClosedRange<Double>
  ) -> [Double] {
    var groups: [Group] = []
    for label in wanted.indices.sorted(by: { wanted[$0] < wanted[$1] }) {
      var group = Group(labels: [label], sum: wanted[label])
      while let above = groups.last,
        above.start + Double(above.labels.count) * distance > group.start
      {
        groups.removeLast()
        let offset = Double(above.labels.count) * distance
        group = Group(
          labels: above.labels + group.labels,
          sum: above.sum + group.sum - Double(group.labels.count) * offset)
      }
      groups.append(group)
    }
    var heights = wanted
    for group in groups {
      let length = Double(group.labels.count - 1) * distance
      let start = max(range.lowerBound, min(range.upperBound - length, group.start))
      for (place, label) in group.labels.enumerated() {
        heights[label] = start + Double(place) * distance
      }
    }
    return heights
  }
}
