import SwitchyardBytes
import Synchronization

/// The result of one check.
struct Finding: Sendable, Equatable {
    enum Mark: String, Sendable {
        case fine
        /// Worth a look.
        case remark
        /// Something will not work until it is changed.
        case wrong

        var symbol: String {
            switch self {
            case .fine: "✓"
            case .remark: "!"
            case .wrong: "✗"
            }
        }

        fileprivate var colour: Colour {
            switch self {
            case .fine: .green
            case .remark: .yellow
            case .wrong: .red
            }
        }
    }

    /// What was checked, such as `key` or `table notes`.
    let check: String
    let mark: Mark
    let text: String
    /// What to do, to be pasted where that is possible.
    let cure: String?

    static func fine(_ check: String, _ text: String) -> Finding {
        Finding(check: check, mark: .fine, text: text, cure: nil)
    }
    static func remark(_ check: String, _ text: String, cure: String? = nil) -> Finding {
        Finding(check: check, mark: .remark, text: text, cure: cure)
    }
    static func wrong(_ check: String, _ text: String, cure: String?) -> Finding {
        Finding(check: check, mark: .wrong, text: text, cure: cure)
    }

    var json: JSON {
        var object: JSONObject = ["check": .string(check), "mark": .string(mark.rawValue), "text": .string(text)]
        if let cure { object["cure"] = .string(cure) }
        return .object(object)
    }

    /// Where texts begin.
    private static let column = 18

    /// A line, and below it what to do.
    func lines(hasColour: Bool) -> String {
        let name = check + String(repeating: " ", count: max(1, Self.column - 2 - check.count))
        let head = "\(mark.colour.applied(to: mark.symbol, hasColour)) \(name)\(text)"
        guard let cure else { return head }
        let margin = String(repeating: " ", count: Self.column)
        let lines = cure.split(separator: "\n", omittingEmptySubsequences: false)
        return ([head] + lines.enumerated().map { margin + ($0.offset == 0 ? "→ " : "  ") + $0.element })
            .joined(separator: "\n")
    }
}

/// Collects findings, and prints each as it comes.
final class Findings: Sendable {
    private let all = Mutex<[Finding]>([])
    private let show: @Sendable (Finding) -> Void

    init(show: @escaping @Sendable (Finding) -> Void = { _ in }) { self.show = show }

    func add(_ finding: Finding) {
        all.withLock { $0.append(finding) }
        show(finding)
    }

    var list: [Finding] { all.withLock { $0 } }
    var worst: Finding.Mark {
        let marks = list.map(\.mark)
        return marks.contains(.wrong) ? .wrong : marks.contains(.remark) ? .remark : .fine
    }

    /// `12 fine, 1 worth a look, 0 to change`
    var summary: String {
        let marks = list.map(\.mark)
        func count(_ mark: Finding.Mark) -> Int { marks.count { $0 == mark } }
        return "\(count(.fine)) fine, \(count(.remark)) worth a look, \(count(.wrong)) to change"
    }
}
