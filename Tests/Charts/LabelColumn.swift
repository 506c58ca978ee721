/// Places labels below each other, each as near to the end of its line as possible.
package enum LabelColumn {
  /// Labels that touch each other, and so move together.
  private struct Group {
    var labels: [Int]
    /// The sum of the labels' wanted heights, each minus the label's distance from the group's
    /// first label.
    var sum: Double
    var start: Double { sum / Double(labels.count) }
  }

  /// Returns the height of each label, in the order of the wanted heights.
  ///
  /// Two labels are at least `distance` apart, and all are within the range if it has space for
  /// them.
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
    // Each group leaves space in the range for all labels above and below it.
    var space = range.lowerBound
    let length = Double(wanted.count - 1) * distance
    var limit = max(range.lowerBound, range.upperBound - length)
    for group in groups {
      let start = max(space, min(limit, group.start))
      for (place, label) in group.labels.enumerated() {
        heights[label] = start + Double(place) * distance
      }
      space += Double(group.labels.count) * distance
      limit += Double(group.labels.count) * distance
    }
    return heights
  }
}
