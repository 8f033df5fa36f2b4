import SwitchyardTestSupport
import Testing

extension Trait where Self == ConditionTrait {
    /// Skips where one of these programs is missing, and says which.
    static func needs(_ tools: OutsideTool...) -> Self {
        let missing = tools.first { !$0.isInstalled }
        return .enabled(if: missing == nil, Comment(rawValue: missing?.absence ?? ""))
    }
}
