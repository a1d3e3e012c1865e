//! The sizes of a convolution.

use std::ops::Range;

/// The sizes of a convolution of `rows` images without dilation.
#[derive(Clone, Copy, Debug)]
pub struct Geometry {
    /// Images.
    pub rows: usize,
    /// Channels, height and width of an image.
    pub input: [usize; 3],
    /// Channels, height and width of the output.
    pub output: [usize; 3],
    /// Height and width of the kernel.
    pub kernel: [usize; 2],
    /// Stride down and across.
    pub stride: [usize; 2],
    /// Pixels of padding above and on the left; on the other sides as much as the output needs.
    pub padding: [usize; 2],
    /// Groups of channels.
    pub groups: usize,
}

impl Geometry {
    /// Numbers of one image.
    pub fn input_len(&self) -> usize {
        self.input.iter().product()
    }

    /// Numbers of one image's output.
    pub fn output_len(&self) -> usize {
        self.output.iter().product()
    }

    /// Pixels of one channel of the output.
    pub fn pixels(&self) -> usize {
        self.output[1] * self.output[2]
    }

    /// Numbers under the kernel at one position, of one group.
    pub fn depth(&self) -> usize {
        self.input[0] / self.groups * self.kernel[0] * self.kernel[1]
    }

    /// Channels of the output of one group.
    pub fn group_outputs(&self) -> usize {
        self.output[0] / self.groups
    }

    /// Whether the convolution is depthwise, with one output per channel.
    pub fn is_depthwise(&self) -> bool {
        self.groups == self.input[0] && self.groups == self.output[0] && self.groups > 1
    }

    /// Whether the columns are the image itself, without a copy.
    pub fn is_pointwise(&self) -> bool {
        self.kernel == [1, 1]
            && self.stride == [1, 1]
            && self.padding == [0, 0]
            && self.input[1..] == self.output[1..]
    }

    /// The row of the image that lies under row `offset` of the kernel at row `place` of the output, unless it is padding.
    #[inline(always)]
    pub fn source_row(&self, place: usize, offset: usize) -> Option<usize> {
        (place * self.stride[0] + offset).checked_sub(self.padding[0]).filter(|&row| row < self.input[1])
    }

    /// The columns of the output at which column `offset` of the kernel lies on the image, and the column of the image under the
    /// first of them.
    #[inline(always)]
    pub fn valid_columns(&self, offset: usize) -> (Range<usize>, usize) {
        let (stride, padding, width) = (self.stride[1], self.padding[1], self.input[2]);
        let first = padding.saturating_sub(offset).div_ceil(stride);
        let end = (width + padding).saturating_sub(offset).div_ceil(stride).min(self.output[2]);
        (first..end.max(first), first * stride + offset - padding)
    }
}
