//! Error scopes of all three kinds at once.

/// Catches what wgpu reports on this thread until [`Scopes::pop`].
pub(crate) struct Scopes {
    // Dropped, where a panic passes through, from the last pushed to the first.
    internal: wgpu::ErrorScopeGuard,
    validation: wgpu::ErrorScopeGuard,
    memory: wgpu::ErrorScopeGuard,
}

impl Scopes {
    pub(crate) fn push(device: &wgpu::Device) -> Self {
        let memory = device.push_error_scope(wgpu::ErrorFilter::OutOfMemory);
        let validation = device.push_error_scope(wgpu::ErrorFilter::Validation);
        let internal = device.push_error_scope(wgpu::ErrorFilter::Internal);
        Self {
            internal,
            validation,
            memory,
        }
    }

    /// The error to report. Out of memory comes first, because it explains the others.
    pub(crate) fn pop(self) -> Option<wgpu::Error> {
        let internal = pollster::block_on(self.internal.pop());
        let validation = pollster::block_on(self.validation.pop());
        let memory = pollster::block_on(self.memory.pop());
        memory.or(internal).or(validation)
    }
}
