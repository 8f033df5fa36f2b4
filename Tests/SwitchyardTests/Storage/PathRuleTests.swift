import SwitchyardTestSupport
import Testing

@testable import Switchyard

/// Right paths are found right by one walk over their bytes, all others by one rule after the other.
@Suite struct PathRuleTests {
    @Test func `Both ways of parsing a path agree on every text`() {
        var generator = SeededGenerator(seed: 17)
        let pieces = [
            "a", "/", "/", ".", "_", "__", "é", "\u{0}", "__id7__", "users", String(repeating: "x", count: 1499),
        ]
        var right = 0
        for _ in 0..<4_000 {
            let count = Int.random(in: 0...9, using: &generator)
            let text = (0..<count).map { _ in pieces.randomElement(using: &generator) ?? "" }.joined()
            for isDocument in [true, false] {
                let isRight = PathSegment.problem(in: text, isDocument: isDocument) == nil
                #expect(isRight == Self.obeysEachRule(text, isDocument: isDocument), "\(text.debugDescription)")
                if isRight { right += 1 }
            }
        }
        #expect(right > 200)
    }

    private static func obeysEachRule(_ text: String, isDocument: Bool) -> Bool {
        let parts = PathSegment.parts(of: text)
        return PathSegment.depthProblem(in: text) == nil && parts.count.isMultiple(of: 2) == isDocument
            && parts.allSatisfy { PathSegment.problem(with: $0) == nil }
    }
}
