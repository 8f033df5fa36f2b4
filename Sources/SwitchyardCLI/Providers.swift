import Switchyard
import SwitchyardFirebase
import SwitchyardMock
import SwitchyardSupabase

/// The providers that this tool knows by name.
enum Providers {
    static let all: [any InfrastructureModule.Type] = [MockModule.self, FirebaseModule.self, SupabaseModule.self]
}
