@testable import SwitchyardSupabase

extension SupabaseFunctions {
    /// With what a call fails; `nil` if it does not.
    func failure(of call: SupabaseFunctionCall) async -> SupabaseFunctionError? {
        do throws(SupabaseFunctionError) {
            _ = try await self.call(call)
            return nil
        } catch {
            return error
        }
    }
}
