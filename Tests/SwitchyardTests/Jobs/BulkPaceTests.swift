import Testing

@testable import Switchyard

@Suite struct BulkPaceTests {
    @Test func `The width grows one by one to its bound, and is halved by each overload`() {
        var pace = BulkPace(parallel: 5, rampFrom: nil)
        #expect(pace.width == 2)
        var widths: [Int] = []
        for _ in 0..<5 {
            pace.note(isOverloaded: false)
            widths.append(pace.width)
        }
        #expect(widths == [3, 4, 5, 5, 5])
        for _ in 0..<4 {
            pace.note(isOverloaded: true)
            widths.append(pace.width)
        }
        #expect(widths.suffix(4) == [2, 1, 1, 1])
        #expect(BulkPace(parallel: 0, rampFrom: nil).width == 1)
        #expect(BulkPace(parallel: 1, rampFrom: nil).width == 1)
    }

    @Test func `Without a ramp nothing waits for the time`() {
        var pace = BulkPace(parallel: 8, rampFrom: nil)
        for _ in 0..<100 { #expect(pace.pause(before: 500, at: .zero) == .zero) }
    }

    @Test
    func `With one, no more goes out in a second than the ramp allows, and half as much again every five minutes`() {
        var pace = BulkPace(parallel: 8, rampFrom: 500)
        #expect(pace.pause(before: 500, at: .zero) == .zero)
        #expect(pace.pause(before: 500, at: .zero) == .seconds(1))
        #expect(pace.pause(before: 250, at: .seconds(1)) == .seconds(1))
        // What was not used is not saved up.
        #expect(pace.pause(before: 500, at: .seconds(100)) == .zero)
        #expect(pace.pause(before: 500, at: .seconds(100)) == .seconds(1))
        #expect(pace.rate(at: .seconds(299)) == 500)
        #expect(pace.rate(at: .seconds(300)) == 750)
        #expect(pace.rate(at: .seconds(900)) == 1687.5)
    }
}
