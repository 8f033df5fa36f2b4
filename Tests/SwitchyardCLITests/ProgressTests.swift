import Foundation
import Testing

@testable import SwitchyardCLI

/// The line that shows how far something is.
@Suite struct ProgressTests {
    private func line(
        _ done: Int64, of total: Int64?, _ unit: ProgressState.Unit = .bytes, after seconds: Int = 2, width: Int = 79
    ) -> String {
        ProgressState(done: done, total: total, unit: unit, elapsed: .seconds(seconds)).line(width: width)
    }

    @Test func `It has a bar, the share, the amount, the rate and the time left`() {
        #expect(
            line(3_000_000, of: 12_000_000)
                == "[#######.......................] 25 %  3 MB of 12 MB  1.5 MB/s  6 s left")
        #expect(line(12_000_000, of: 12_000_000) == "[##############################] 100 %  12 MB of 12 MB  6 MB/s")
        #expect(line(500, of: nil, .things("documents")) == "500 documents  250/s")
        #expect(line(10, of: 4000, .things("checks"), after: 4).hasSuffix("10 of 4000 checks  2.5/s  27 min left"))
        #expect(line(0, of: 100).hasSuffix("0 %  0 B of 100 B"))
    }

    @Test(arguments: [5, 12, 30, 50, 79, 200]) func `It never exceeds the terminal`(_ width: Int) {
        for done in [0, 1, 999, 123_456_789] as [Int64] {
            #expect(line(done, of: 1_000_000_000, width: width).count <= width)
            #expect(line(done, of: nil, width: width).count <= width)
        }
    }

    @Test func `Times are as precise as they are good for`() {
        #expect(ProgressState.time(0.2) == "1 s" && ProgressState.time(89) == "89 s")
        #expect(ProgressState.time(3000) == "50 min" && ProgressState.time(7300) == "2 h 1 min")
        #expect(ProgressState.time(.infinity).hasSuffix("min"))
    }
}
