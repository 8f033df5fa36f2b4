#if canImport(SwiftUI)
    public import SwiftUI
    public import Switchyard

    extension EnvironmentValues {
        /// The backend of ``Live``, ``LiveCount`` and ``LiveValue``.
        public var backend: Infrastructure? {
            get { self[BackendKey.self] }
            set { self[BackendKey.self] = newValue }
        }
    }

    private struct BackendKey: EnvironmentKey {
        static let defaultValue: Infrastructure? = nil
    }

    extension View {
        /// Sets the backend of the live properties in this view and below.
        public func backend(_ backend: Infrastructure) -> some View { environment(\.backend, backend) }
    }

    extension Scene {
        /// Sets the backend of the live properties in this scene.
        public func backend(_ backend: Infrastructure) -> some Scene { environment(\.backend, backend) }
    }
#endif
