import Switchyard
import SwitchyardMock

/// The providers that this tool knows by name.
enum Providers {
    static let all: [any InfrastructureModule.Type] = [MockModule.self]
}
