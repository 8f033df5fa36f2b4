public import Switchyard

extension InfrastructureProvider {
    /// A Supabase project, hosted or one's own.
    public static let supabase = InfrastructureProvider("supabase")
}
