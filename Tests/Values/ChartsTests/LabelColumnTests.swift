import Charts
import Testing

/// The positions of the labels of a chart's lines.
struct LabelColumnTests {
  @Test func `labels with space between them stay where they are`() {
    #expect(heights([50, 10, 90]) == [50, 10, 90])
  }

  @Test func `labels that would overlap move apart by the same distance`() {
    #expect(heights([50, 52]) == [46, 56])
    #expect(heights([52, 50]) == [56, 46])
  }

  @Test func `a moved label pushes its neighbours`() {
    // The labels at 50, 52 and 60 form a group with distances of 10. It would begin at 50, 42 or 40
    // if its first, second or third label stayed. It begins at the mean, 44.
    #expect(heights([30, 50, 52, 60]) == [30, 44, 54, 64])
  }

  @Test func `labels stay within the picture`() {
    #expect(heights([0, 0, 0]) == [0, 10, 20])
    #expect(heights([100, 100]) == [90, 100])
    #expect(heights([-5, 5, 50]) == [0, 10, 50])
    #expect(heights([50, 95, 105]) == [50, 90, 100])
  }

  private func heights(_ wanted: [Double]) -> [Double] {
    LabelColumn.heights(wanted, distance: 10, in: 0...100)
  }
}
