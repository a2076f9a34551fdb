fn target_weight(number: u32) -> f32 {
    return read_pose_weights(number);
}
